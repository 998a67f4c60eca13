/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a library that `xrc-compat trace` preloads gives the shim: functions that are told of the calls of exported functions.
 * Without XRC_COMPAT_TRACE none is looked for.
 */
#ifndef SHIM_TRACER_H
#define SHIM_TRACER_H

#include <stdint.h>

#include <abi/export.h>
#include <abi/verb.h>

/* Each may change errno; the shim keeps it. */
struct shim_tracer {
	/* What the others get, NULL if calls of this verb are not to be told of. arguments: as in the table abi/symbols.tab. */
	void *(*enter)(enum verb verb, const uintptr_t *arguments);
	/* result: what the program gets; error: its errno, 0 for success. */
	void (*leave)(void *call, int64_t result, int error);
	/* Instead of leave, when the call turned out to be none of ours. */
	void (*drop)(void *call);
};

/* The name under which the library exports how to begin. NULL if it was built with another table: verbs is VERBS. */
#define SHIM_TRACER "xrc_trace_start"
#define SHIM_TRACER_NODE "XRC_TRACE"
typedef const struct shim_tracer *(*shim_tracer_start_fn)(unsigned int verbs);

/** shim_find_tracer - in this process; NULL where nobody traces. */
const struct shim_tracer *shim_find_tracer(void);

#endif
