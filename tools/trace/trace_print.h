/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A trace for people and for scripts. */
#ifndef XRC_COMPAT_TOOLS_TRACE_PRINT_H
#define XRC_COMPAT_TOOLS_TRACE_PRINT_H

#include "tools/common/json.h"
#include "trace_census.h"

#include <stdio.h>

void trace_print_call(FILE *out, const struct trace_record *record, const struct trace_site *site,
		      bool with_stack);
/*
 * @status: with which the program ended, or with which it could not be started. @port_to: say what
 * to port the functions to.
 */
void trace_print_end(FILE *out, const struct trace_census *census, int status, bool port_to);

void trace_json_call(struct json *json, const struct trace_record *record,
		     const struct trace_site *site);
void trace_json_end(struct json *json, const struct trace_census *census);

#endif
