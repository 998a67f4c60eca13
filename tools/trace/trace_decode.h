/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The arguments and results of traced calls, by name. */
#ifndef XRC_COMPAT_TOOLS_TRACE_DECODE_H
#define XRC_COMPAT_TOOLS_TRACE_DECODE_H

#include "library/record.h"

#include <stdbool.h>
#include <stddef.h>

#define TRACE_VALUE_SIZE 640

struct trace_argument {
	char name[20];
	char value[TRACE_VALUE_SIZE];
};

/** trace_function - the name of the function. */
const char *trace_function(enum verb verb);

/** trace_port - what to port a call of it to. */
const char *trace_port(enum verb verb);

/** trace_arguments - returns how many. */
size_t trace_arguments(const struct trace_record *record,
		       struct trace_argument arguments[TRACE_ARGUMENTS]);

bool trace_failed(const struct trace_record *record);

/** trace_result - what came back, with the errno by name, and the number that was made. */
void trace_result(const struct trace_record *record, char *text, size_t size);

/** trace_became_kept - how many of became[] are filled in. */
uint32_t trace_became_kept(const struct trace_record *record);

/** trace_error_name - "EINVAL", or what strerror(3) says of a rare one. */
const char *trace_error_name(int err);

#endif
