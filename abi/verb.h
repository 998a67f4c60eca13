/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions that are entered through the shim, by number. Every table with a row for each of
 * them takes its rows from ABI_FUNCTIONS.
 */
#ifndef ABI_VERB_H
#define ABI_VERB_H

#include <abi/functions.h>

#define X(function, returns, unsupported, arguments, port) VERB_##function,
enum verb {
	ABI_FUNCTIONS(X)
	VERBS
};
#undef X

/* The node of the verbs that old programs call; those of IBVERBS_1.0 have other layouts. */
#define VERB_NODE "IBVERBS_1.1"

/* How a function tells that it failed. */
enum verb_returns {
	RETURNS_ERRNO,	/* a positive errno, errno set as well */
	RETURNS_NULL,	/* NULL with errno set */
	RETURNS_MINUS1,	/* -1 with errno set */
	RETURNS_VOID,	/* it cannot fail */
};

#endif
