/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Functions that take the place of today's verbs in the shim's table. Each notes that a legacy call
 * became this verb, and calls the verb. Outside of a traced legacy call nothing is noted. Nothing
 * of the data path is in that table.
 */
#include "internal.h"

#include <errno.h>

#include <abi/export.h>
#include <modern/table.h>

static struct modern_table real;

static void status(const char *name, uint64_t start, int result)
{
	trace_became(name, start, result < 0 ? errno : result);
}

static void pointer(const char *name, uint64_t start, const void *result)
{
	trace_became(name, start, result ? 0 : errno);
}

static void number(const char *name, uint64_t start, uint64_t result)
{
	(void)result;
	trace_became(name, start, 0);
}

#define TELL(result) _Generic((result), int: status, __be64: number, default: pointer)

#define X(name, ret, params, args) \
	static ret wrapped_##name params \
	{ \
		uint64_t start = trace_now(); \
		ret result = real.name args; \
\
		TELL(result)("ibv_" #name, start, result); \
		return result; \
	}
MODERN_FUNCTIONS(X)
MODERN_COMMANDS(X)
MODERN_INLINES(X)
#undef X

#define SHIM_VERSIONS_xrc_trace_wrap \
	SHIM_VERSION(xrc_trace_wrap, 0, MODERN_WRAPPER "@" MODERN_WRAPPER_NODE)

/* If the shim is of another build its table is left alone. */
void shim_xrc_trace_wrap(struct modern_table *table, size_t size)
{
	if (size != sizeof(real))
		return;
	real = *table;
	/* A function that libibverbs does not have stays NULL. */
#define X(name, ret, params, args) table->name = real.name ? wrapped_##name : NULL;
	MODERN_FUNCTIONS(X)
	MODERN_COMMANDS(X)
	MODERN_INLINES(X)
#undef X
}
SHIM_EXPORT(xrc_trace_wrap);
