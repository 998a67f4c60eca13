/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * MVAPICH2 since 2.3.5 is not linked with libibverbs: it opens it and looks up each verb by name,
 * without a version.
 */

#include "mvapich2.h"

#ifdef IBV_DLOPEN

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

struct verbs verbs;

/* Tries the development name first, which exists only with development files. */
static void *open_library(void)
{
	const char *path = getenv("MV2_LIBIBVERBS_PATH");
	void *library = dlopen("libibverbs.so", RTLD_NOW);

	if (!library && path)
		library = dlopen(path, RTLD_NOW);
	if (!library)
		library = dlopen("libibverbs.so.1", RTLD_NOW);
	if (!library)
		job_die("%s", dlerror());
	return library;
}

/* MVAPICH2 goes on with the NULL pointer, and crashes when it calls that. */
static void *look_up(void *library, const char *name, int *missing)
{
	void *verb = dlsym(library, name);

	if (!verb) {
		fprintf(stderr, "Error opening %s. Falling back.\n", name);
		++*missing;
	}
	return verb;
}

void verbs_open(void)
{
	void *library = open_library();
	int missing = 0;

#define X(name) verbs.name = (__typeof__(verbs.name))look_up(library, "ibv_" #name, &missing);
	VERBS(X)
#undef X
	if (missing)
		job_die("%d verbs are missing", missing);
}

#else

void verbs_open(void)
{
}

#endif
