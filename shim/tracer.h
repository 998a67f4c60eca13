/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions of the library of `xrc-compat trace` that the shim calls for every call. Without
 * XRC_COMPAT_TRACE the shim does not look for that library.
 */
#ifndef SHIM_TRACER_H
#define SHIM_TRACER_H

#include <abi/verb.h>

#include <stdint.h>

/*
 * Stands in the stack frame of an exported function. `xrc-compat ps --stacks` reads it there, in a
 * thread that waits inside the call.
 */
struct shim_call {
	enum verb verb;
	const uintptr_t *arguments;	/* those that abi/symbols.tab names; NULL: it names none */
	const struct event_holder *holders;	/* EVENT_HOLDERS of compat/event_holder.h */
};

/* Each may change errno: the shim restores it. */
struct shim_tracer {
	/*
	 * Begins a call. arguments: those that abi/symbols.tab names; the array stays until the
	 * call ends. Returns the call for leave or drop; NULL: not traced.
	 */
	void *(*enter)(enum verb verb, const uintptr_t *arguments);
	/* Ends it. result: what the program gets; error: its errno, 0 for success. */
	void (*leave)(void *call, int64_t result, int error);
	/* Ends it without a record: the call was passed on to libibverbs. */
	void (*drop)(void *call);
};

/*
 * The function that the library exports. verbs: VERBS. It returns NULL if it was built with another
 * table.
 */
#define SHIM_TRACER "xrc_trace_start"
#define SHIM_TRACER_NODE "XRC_TRACE"
typedef const struct shim_tracer *(*shim_tracer_start_fn)(unsigned int verbs);

/* Returns the tracer of this process; NULL without `xrc-compat trace`. After modern_load(). */
const struct shim_tracer *shim_find_tracer(void);

#endif
