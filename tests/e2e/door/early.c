/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* To be preloaded: calls dlsym and dlvsym in its constructor. */

#include <dlfcn.h>
#include <stdio.h>

/* The first version of libc's ABI on this machine. */
#ifdef __i386__
#define FIRST "GLIBC_2.0"
#elif defined(__aarch64__)
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif

static void *found, *found_versioned;

static __attribute__((constructor)) void look_up(void)
{
	found = dlsym(RTLD_NEXT, "getppid");
	found_versioned = dlvsym(RTLD_NEXT, "getppid", FIRST);
}

static __attribute__((destructor)) void print_found(void)
{
	fprintf(stderr, "early %s\n",
		found && found == found_versioned ? "found" : "found nothing");
}
