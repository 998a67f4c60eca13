/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Names the legacy call that a thread is in, by the symbols of its frames. */
#include "image.h"

#include <abi/functions.h>

#include <string.h>

static const char *const functions[] = {
#define X(function, returns, unsupported, arguments, port) #function,
	ABI_FUNCTIONS(X)
#undef X
};

/*
 * The function of a symbol of libxrc-compat, or NULL. An exported function is shim_NAME in its
 * source. In a program with XRC it may have jumped to a function whose name lacks "ibv_", as
 * destroy_qp() does.
 */
static const char *function_of(const char *symbol)
{
	symbol += strncmp(symbol, "shim_", 5) ? 0 : 5;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (!strcmp(functions[i], symbol) || !strcmp(strchr(functions[i], '_') + 1, symbol))
			return functions[i];
	}
	return NULL;
}

/* The outermost call is the program's. A provider may call another function from there. */
const char *legacy_call(const struct stack *stack)
{
	const char *call = NULL;

	for (size_t i = 0; i < stack->frame_count; i++) {
		for (const struct place *at = stack->frame[i].place; at; at = at->outer) {
			const char *name = strstr(at->module, "libxrc-compat.so")
						   ? function_of(at->symbol) : NULL;

			call = name ? name : call;
		}
	}
	return call;
}
