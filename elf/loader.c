/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The loader's own dlsym and dlvsym. */

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "early.h"
#include "loaded.h"
#include "loader.h"

/*
 * This library's _DYNAMIC, declared hidden: with the declaration of <link.h> its address would need
 * a relocation.
 */
extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

static bool is_ours(const struct link_map *map)
{
	return map->l_ld == own_dynamic;
}

/*
 * Another copy of this library that is preloaded as well, from another place. It is skipped: at a
 * fork, two copies that call each other would take their locks in different orders.
 */
static bool is_copy(const struct loaded *loaded)
{
	return loaded_symbol(loaded, "xrc_compat_xrcd");
}

/* @map: the first object to look at. */
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
 * Walks the loader's list as debuggers do. It does not call dl_iterate_phdr, because a sanitizer's
 * runtime interposes that function and looks up its own functions through ours before it works.
 * Nothing here needs a relocation (early.h). It runs once for each name, in practice during
 * start-up, when no object is being unloaded. If a plugin brought this library, libc is in front.
 */
static void *find_behind_us(const char *name)
{
	const struct link_map *all = early_objects(), *map = all;
	void *found;

	while (map && !is_ours(map))
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

static bool is_libibverbs(const struct link_map *map)
{
	struct loaded loaded;

	if (!map->l_ld)
		return false;
	loaded_read(map->l_addr, map->l_ld, &loaded);
	return !strcmp(loaded_soname(&loaded), "libibverbs.so.1");
}

static const struct link_map *object_of(const void *function)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

/*
 * The handle of a plugin. libibverbs has no legacy verb, so a verb that it always had is looked up
 * in its place.
 */
static bool plugin_finds_libibverbs(void *handle, const char *verb)
{
	loader_dlsym_fn real = loader_dlsym();
	const void *found = real ? real(handle, verb) : NULL;
	const struct link_map *map;

	if (!found && real)
		found = real(handle, "ibv_get_device_list");
	map = found ? object_of(found) : NULL;
	return map && is_libibverbs(map);
}

bool loader_finds_in_libibverbs(void *handle, const char *verb)
{
	struct link_map *map = NULL;

	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return false;
	/*
	 * The handle of the program itself searches all that is loaded, as RTLD_DEFAULT does, and
	 * finds us first.
	 */
	return is_libibverbs(map) || (map->l_prev && plugin_finds_libibverbs(handle, verb));
}
