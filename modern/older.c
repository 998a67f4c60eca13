/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The functions of libibverbs' older node. */

#include <dlfcn.h>

#include <elf/loader.h>

#include "modern.h"

#define LIBRARY "libibverbs.so.1"
#define NODE "IBVERBS_1.0"

void *modern_older(const char *name)
{
	/* Loaded it is: the caller has an object of it. */
	void *library = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
	loader_dlvsym_fn dlvsym_real = loader_dlvsym();

	return library && dlvsym_real ? dlvsym_real(library, name, NODE) : NULL;
}
