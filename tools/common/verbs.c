/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Loads libibverbs. */
#include "verbs.h"

#include <dlfcn.h>

bool verbs_load(const char *library, struct verbs *verbs)
{
	void *handle = dlopen(library, RTLD_NOW);

	if (!handle)
		return false;
#define X(name) verbs->name = (__typeof__(verbs->name))dlsym(handle, "ibv_" #name);
	TOOLS_VERBS(X)
#undef X
	return true;
}
