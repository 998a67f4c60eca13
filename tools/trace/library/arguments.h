/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The arguments column of abi/symbols.tab: what the library takes down of a call, and what the
 * command shows.
 */
#ifndef XRC_COMPAT_TOOLS_TRACE_ARGUMENTS_H
#define XRC_COMPAT_TOOLS_TRACE_ARGUMENTS_H

#include <stdbool.h>

#include <abi/verb.h>

enum trace_way {
	TRACE_IN,	/* "name": read before the call */
	TRACE_OUT,	/* ">name": filled in by the call */
	TRACE_MADE,	/* "=name": what a call returns that returns a pointer */
};

struct trace_parameter {
	enum trace_way way;
	char name[20];
};

/**
 * trace_next - takes the next one from *rest, at first trace_parameters(verb). Returns false when
 * there is none.
 */
bool trace_next(const char **rest, struct trace_parameter *parameter);

/** trace_parameters - the column; "" for a function whose calls are not traced. */
const char *trace_parameters(enum verb verb);

#endif
