/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The library of `xrc-compat trace`, which that command preloads. The shim tells it of every call.
 * Without XRC_COMPAT_TRACE the library is not looked for.
 */
#ifndef MODERN_TRACER_H
#define MODERN_TRACER_H

#include "table.h"

#include <abi/verb.h>

/* Each may change errno: the shim restores it. */
struct tracer {
	/*
	 * Begins a call. Returns the call for leave or drop; NULL: it is not traced. @arguments
	 * are those that abi/symbols.tab names; the array stays until the call ends.
	 */
	void *(*enter)(enum verb verb, const uintptr_t *arguments);
	/* Ends a call. @result: what the program gets; @error: its errno, 0 for success. */
	void (*leave)(void *call, int64_t result, int error);
	/* Ends a call without a record: it was passed on to libibverbs. */
	void (*drop)(void *call);
};

/*
 * The function that the library exports. It puts functions of that library in front of those in the
 * table. Returns NULL, and changes nothing, if the library was built for another number of verbs
 * or a table of another size in bytes.
 */
#define TRACER_START "xrc_trace_start"
#define TRACER_NODE "XRC_TRACE"
typedef const struct tracer *(*tracer_start_fn)(unsigned int verbs, struct modern_table *table,
						size_t size);

/* Valid after modern_start_tracer(). NULL without `xrc-compat trace`. */
extern const struct tracer *modern_tracer;

#endif
