/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* To be preloaded: stands in front of dlsym as heap profilers do, and tells at the end how often it was asked. */

#include <dlfcn.h>
#include <stdio.h>

#define VISIBLE __attribute__((visibility("default")))

static int asked;

/* The version is that of glibc 2.34; older ones have it under the name that they began with. */
VISIBLE void *dlsym(void *handle, const char *name)
{
	static void *(*next)(void *handle, const char *name);

	if (!next)
		*(void **)&next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	if (!next)
		*(void **)&next = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	asked++;
	return next(handle, name);
}

static __attribute__((destructor)) void tell(void)
{
	fprintf(stderr, SPY " asked %d\n", asked);
}
