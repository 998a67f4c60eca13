/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The verbs as the linker and the loader bind them (LINKED), or looked up as by programs that are
 * not linked with libibverbs: closed MPIs, and MVAPICH2 2.3.
 */

#include "calls.h"

#ifdef LINKED
/* The program `ask` needs only the references, which LTO would remove with the function. */
__attribute__((used)) void table_linked(struct verbs *verbs, const char *way)
{
	(void)way;
#define X(name) verbs->name = ibv_##name;
	CALLED_VERBS(X)
#undef X
}
#else
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each word changes something: lazy, local, global, noload (loaded first), path, dlvsym. */
static void *open_library(const char *way)
{
	const char *name = strstr(way, "path") ? getenv("DOOR_LIBRARY") : "libibverbs.so.1";
	int flags = strstr(way, "lazy") ? RTLD_LAZY : RTLD_NOW;

	flags |= strstr(way, "global") ? RTLD_GLOBAL : 0;
	if (strstr(way, "noload") && !dlopen(name, flags))
		return NULL;
	return dlopen(name, flags | (strstr(way, "noload") ? RTLD_NOLOAD : 0));
}

/* Verbs that never changed since the first ABI are in the first node only. */
static void *look_up(const char *way, void *handle, const char *name)
{
	void *found;

	if (!strstr(way, "dlvsym"))
		return dlsym(handle, name);
	found = dlvsym(handle, name, "IBVERBS_1.1");
	return found ? found : dlvsym(handle, name, "IBVERBS_1.0");
}

void table_lookup(struct verbs *verbs, const char *way)
{
	void *handle = open_library(way), *found = handle;

#define X(verb) \
	if (found) \
		found = look_up(way, handle, "ibv_" #verb); \
	memcpy(&verbs->verb, &found, sizeof(found));
	CALLED_VERBS(X)
#undef X
	if (!found) {
		printf("lookup: %s\n", dlerror());
		exit(1);
	}
}
#endif
