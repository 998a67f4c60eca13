/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The loader's own dlsym and dlvsym. */

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "early.h"
#include "loaded.h"
#include "loader.h"

/* _DYNAMIC as this library has it; <link.h> declares it so that its address would come from a relocation. */
extern const ElfW(Dyn) own_dynamic[] __asm__("_DYNAMIC") __attribute__((visibility("hidden")));

static bool is_ours(const struct link_map *map)
{
	return map->l_ld == own_dynamic;
}

/*
 * Another copy of this library, of another place, which somebody preloaded as well. It is passed over: two that call each other
 * would take each other's locks in both orders when the program forks.
 */
static bool is_copy(const struct loaded *loaded)
{
	return loaded_symbol(loaded, "xrc_compat_xrcd");
}

/*
 * Walks the loader's list as debuggers read it. Not dl_iterate_phdr: a sanitizer's runtime stands in front of that function, and
 * looks its own functions up through us before it works. Nothing here needs a relocation (early.h). It is done once for each
 * name, in practice while the first library starts up, so that nothing is being unloaded meanwhile.
 */
static void *find_behind_us(const char *name)
{
	const struct link_map *map = early_objects();
	void *found = NULL;

	while (map && !is_ours(map))
		map = map->l_next;
	for (map = map ? map->l_next : NULL; map && !found; map = map->l_next) {
		struct loaded loaded;

		loaded_read(map->l_addr, map->l_ld, &loaded);
		if (!is_copy(&loaded))
			found = loaded_symbol(&loaded, name);
	}
	return found;
}

/* Two threads may search at once and find the same. */
static void *cached(void *_Atomic *cache, const char *name)
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

	return (loader_dlsym_fn)cached(&cache, "dlsym");
}

loader_dlvsym_fn loader_dlvsym(void)
{
	static void *_Atomic cache;

	return (loader_dlvsym_fn)cached(&cache, "dlvsym");
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

/* A verb that was never missing tells whether libibverbs is where the handle makes the loader look. */
static bool finds_in_dependency(void *handle, const char *verb)
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
	/* The program's own handle means all that is loaded, as RTLD_DEFAULT: us first. */
	return is_libibverbs(map) || (map->l_prev && finds_in_dependency(handle, verb));
}
