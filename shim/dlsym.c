/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Exported: dlsym, dlvsym. Some programs dlopen libibverbs, or a plugin that is linked with it, and
 * look up its functions on that handle (MVAPICH2 since 2.3.5, HP-MPI). The loader never finds a
 * preloaded definition there, so the look-up is answered here.
 *
 * All other calls are passed on to the loader's function. For RTLD_NEXT that function takes its
 * return address for the caller, so it is called by a tail call.
 */
#include <elf/dl_handle.h>
#include <elf/loader.h>
#include <two_way/program.h>

#include <dlfcn.h>
#include <string.h>

#include "shim.h"

#ifdef __clang__
#define TAIL_CALL __attribute__((musttail))
#define TAIL_CALLER
#else
#define TAIL_CALL
/* The counters of scripts/coverage would prevent a tail call. */
#define TAIL_CALLER __attribute__((no_profile_instrument_function))
#endif

/* Declared only for their addresses. */
#define X(symbol) extern void shim_##symbol(void);
SHIM_VERBS(X)
#undef X

static const struct {
	const char *name;
	void *function;
} ours[] = {
#define X(symbol) { #symbol, (void *)shim_##symbol },
	SHIM_VERBS(X)
#undef X
};

/*
 * Every name comes here, also before functions of the C library can be called: a sanitizer's
 * runtime looks up its strncmp() and strcmp() by our dlsym(). It looks up no verb.
 */
static bool is_verb(const char *name)
{
	return name[0] == 'i' && name[1] == 'b' && name[2] == 'v' && name[3] == '_';
}

static __attribute__((noinline)) void *find_ours(void *handle, const char *name)
{
	if (!is_verb(name) || !dl_handle_finds_libibverbs(handle, name))
		return NULL;
	program_note_lookup(name);
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		if (!strcmp(name, ours[i].name))
			return ours[i].function;
	return NULL;
}

static __attribute__((noinline)) void *find_ours_versioned(void *handle, const char *name,
							   const char *version)
{
	return is_verb(name) && !strcmp(version, VERB_NODE) ? find_ours(handle, name) : NULL;
}

/*
 * Legacy: as in every program.
 * Modern: the loader's dlsym.
 * Difference: a handle of libibverbs.so.1, or of a library that was linked with it, has the legacy
 * functions, too.
 */
TAIL_CALLER void *dlsym(void *handle, const char *name)
{
	void *found = find_ours(handle, name);
	loader_dlsym_fn real = loader_dlsym();

	if (found || !real)
		return found;
	TAIL_CALL return real(handle, name);
}
SHIM_EXPORT(dlsym);

/*
 * Legacy: as in every program.
 * Modern: the loader's dlvsym.
 * Difference: as for dlsym, but only for node IBVERBS_1.1.
 */
TAIL_CALLER void *dlvsym(void *handle, const char *name, const char *version)
{
	void *found = find_ours_versioned(handle, name, version);
	loader_dlvsym_fn real = loader_dlvsym();

	if (found || !real)
		return found;
	TAIL_CALL return real(handle, name, version);
}
SHIM_EXPORT(dlvsym);
