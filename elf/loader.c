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

bool loader_is_libibverbs(void *handle)
{
	struct link_map *map = NULL;
	struct loaded loaded;

	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || dlinfo(handle, RTLD_DI_LINKMAP, &map) || !map->l_ld)
		return false;
	loaded_read(map->l_addr, map->l_ld, &loaded);
	return !strcmp(loaded_soname(&loaded), "libibverbs.so.1");
}
