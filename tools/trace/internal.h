/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Inside the tracing library. */
#ifndef XRC_COMPAT_TOOLS_TRACE_INTERNAL_H
#define XRC_COMPAT_TOOLS_TRACE_INTERNAL_H

#include "record.h"

/** trace_stack - fill in who called, from the first frame that is not this library's. */
void trace_stack(struct trace_record *record);

/** trace_send - hand the record to the command; quietly not, when that has ended. */
void trace_send(const struct trace_record *record);

#endif
