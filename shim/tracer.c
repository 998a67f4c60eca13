/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the library of `xrc-compat trace`, if it is loaded. */
#include "tracer.h"

#include <elf/loader.h>

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

const struct shim_tracer *shim_find_tracer(void)
{
	const char *traced = secure_getenv("XRC_COMPAT_TRACE");
	shim_tracer_start_fn start = NULL;

	if (traced && *traced)
		start = (shim_tracer_start_fn)loader_dlvsym()(RTLD_DEFAULT, SHIM_TRACER,
							      SHIM_TRACER_NODE);
	return start ? start(VERBS) : NULL;
}
