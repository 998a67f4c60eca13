/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * To be preloaded: defines names that other libraries also define, and looks up the next
 * definitions by RTLD_NEXT.
 */

#include <dlfcn.h>
#include <stdio.h>

#include "visible.h"

void *interposer_next(const char *name, const char *version);
void *ibv_create_qp(void *pd, void *attr);
int ibv_fork_init(void);

static int calls;

__attribute__((destructor)) static void print_calls(void)
{
	if (calls)
		fprintf(stderr, "interposer: %d calls of ibv_create_qp\n", calls);
}

/* These must not be tail calls: dlsym must see this library as its caller. */
DOOR_VISIBLE void *interposer_next(const char *name, const char *version)
{
	void *found = version ? dlvsym(RTLD_NEXT, name, version) : dlsym(RTLD_NEXT, name);

	__asm__ volatile("" : "+r"(found));
	return found;
}

DOOR_VISIBLE void *ibv_create_qp(void *pd, void *attr)
{
	void *(*next)(void *pd, void *attr);

	calls++;
	*(void **)&next = interposer_next("ibv_create_qp", "IBVERBS_1.1");
	return next(pd, attr);
}

DOOR_VISIBLE int ibv_fork_init(void)
{
	return 0;
}
