/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Inside the tracing library. */
#ifndef XRC_COMPAT_TOOLS_TRACE_INTERNAL_H
#define XRC_COMPAT_TOOLS_TRACE_INTERNAL_H

#include "record.h"

#include <stdbool.h>

/** trace_begin, trace_end - around a legacy call of this thread. The end tells of it; errno stays. */
void trace_begin(struct trace_record *record, enum trace_call call);
void trace_end(struct trace_record *record, int64_t result, bool failed);

/** trace_became - one of today's verbs was called, in whatever legacy call is under way in this thread. errno stays. */
void trace_became(const char *name, uint64_t start, int error);

/** trace_now - ns of CLOCK_MONOTONIC. errno stays. */
uint64_t trace_now(void);

/** trace_stack - fill in who called, from the first frame that is not this library's. */
void trace_stack(struct trace_record *record);

/** trace_send - hand the record to the command; quietly not, when that has ended. */
void trace_send(const struct trace_record *record);

#endif
