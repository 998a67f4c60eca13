/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Inside the tracing library. The shim keeps errno round all of it. */
#ifndef XRC_COMPAT_TOOLS_TRACE_INTERNAL_H
#define XRC_COMPAT_TOOLS_TRACE_INTERNAL_H

#include <stdbool.h>

#include "record.h"

/**
 * trace_became - one of today's verbs was called, in whatever legacy call is under way in this
 * thread.
 */
void trace_became(const char *name, uint64_t start, int err);

/** trace_now - ns of CLOCK_MONOTONIC. */
uint64_t trace_now(void);

/** trace_take - note what an argument, or what was made, stands for. name: as in the table. */
void trace_take(struct trace_record *record, const char *name, uintptr_t value);

/** trace_stack - fill in the callers. in_shim: an address in the shim. */
void trace_stack(struct trace_record *record, uintptr_t in_shim);

/** trace_program - the path of the program. */
extern char trace_program[256];

/** trace_send - hand the record to the command; quietly not, when that has ended. */
void trace_send(const struct trace_record *record);

#endif
