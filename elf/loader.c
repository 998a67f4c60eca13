/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the loader's own dlsym and dlvsym. */
#include "loader.h"
#include "loaded.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * If _r_debug were not weak, the linker would add the loader to DT_NEEDED of our libraries. There
 * the loader would precede a sanitizer's runtime in the search order. That runtime looks for the
 * loader's functions behind itself.
 */
#pragma weak _r_debug

/*
 * A second copy of this library is skipped. It comes from another installation: an environment
 * module sets LD_PRELOAD to one copy, and `xrc-compat run` adds its own. The copies would call each
 * other without end.
 */
static bool is_copy(const struct loaded *loaded)
{
	return loaded_symbol(loaded, "xrc_compat_xrcd");
}

/* Searches @map and the objects behind it. */
static void *find_from(const struct link_map *map, const char *name)
{
	void *found = NULL;

	for (; map && !found; map = map->l_next) {
		struct loaded loaded;

		loaded_read(map->l_addr, map->l_ld, &loaded);
		if (!is_copy(&loaded))
			found = loaded_symbol(&loaded, name);
	}
	return found;
}

/*
 * Walks the loader's list without its lock, as debuggers do. It runs once for each name, in
 * practice during start-up, when no object is being unloaded. dl_iterate_phdr() cannot be used: a
 * sanitizer's runtime interposes it, and looks up functions through our dlsym before it works.
 */
static void *find_behind_us(const char *name)
{
	const struct link_map *all = _r_debug.r_map, *map = all;
	void *found;

	while (map && map->l_ld != _DYNAMIC)
		map = map->l_next;
	found = find_from(map, name);
	return found ? found : find_from(all, name);
}

/* Two threads may search at once: they find the same function. */
static void *find_once(void *_Atomic *cache, const char *name)
{
	void *found = atomic_load_explicit(cache, memory_order_relaxed);

	if (!found) {
		found = find_behind_us(name);
		atomic_store_explicit(cache, found, memory_order_relaxed);
	}
	return found;
}

loader_dlsym_fn loader_dlsym(void)
{
	static void *_Atomic cache;

	return (loader_dlsym_fn)find_once(&cache, "dlsym");
}

loader_dlvsym_fn loader_dlvsym(void)
{
	static void *_Atomic cache;

	return (loader_dlvsym_fn)find_once(&cache, "dlvsym");
}

void loader_hold_signals(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, before);
}

void loader_release_signals(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}
