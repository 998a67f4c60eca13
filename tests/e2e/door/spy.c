/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * To be preloaded: interposes dlsym, as heap profilers do, and prints at the end how often it was
 * called.
 */

#include <dlfcn.h>
#include <stdio.h>

#include "visible.h"

static int calls;

/* The next dlsym, with the version that programs linked today import. */
DOOR_VISIBLE void *dlsym(void *handle, const char *name)
{
	static void *(*next)(void *handle, const char *name);

	if (!next)
		*(void **)&next = dlvsym(RTLD_NEXT, "dlsym", NODE);
	calls++;
	return next(handle, name);
}

static __attribute__((destructor)) void print_calls(void)
{
	fprintf(stderr, SPY " was called %d times\n", calls);
}
