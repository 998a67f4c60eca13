/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * To be preloaded: calls dlsym and dlvsym in its constructor, or while the loader relocates it
 * (EARLY_IRELATIVE).
 */

#include <dlfcn.h>
#include <stdio.h>

/* The first version of libc's ABI on this machine. */
#ifdef __i386__
#define FIRST "GLIBC_2.0"
#else
#define FIRST "GLIBC_2.2.5"
#endif

static void *found, *found_versioned;

static void look_up(void)
{
	found = dlsym(RTLD_NEXT, "getppid");
	found_versioned = dlvsym(RTLD_NEXT, "getppid", FIRST);
}

#ifdef EARLY_IRELATIVE
static int nothing(void)
{
	return 0;
}

__attribute__((used)) static int (*resolve(void))(void)
{
	look_up();
	return nothing;
}

static int early(void) __attribute__((ifunc("resolve")));

/* To initialise this the loader must call resolve(). */
__attribute__((visibility("default"))) int (*early_pointer)(void) = early;
#else
static __attribute__((constructor)) void start(void)
{
	look_up();
}
#endif

static __attribute__((destructor)) void print_found(void)
{
	fprintf(stderr, "early %s\n",
		found && found == found_versioned ? "found" : "found nothing");
}
