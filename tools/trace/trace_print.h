/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A trace for people, for scripts, and as a document. */
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

void trace_porting_report(FILE *out, const struct trace_census *census, const char *program);

/** trace_place - "function+0x12 (file.c:34)" of a frame. */
void trace_place(const struct trace_frame *frame, char *text, size_t size);

#endif
