/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Tells whether a handle of dlopen() leads to libibverbs. */
#include "dl_handle.h"
#include "loaded.h"
#include "loader.h"

#include <dlfcn.h>
#include <string.h>

static bool is_libibverbs(const struct link_map *map)
{
	struct loaded loaded;

	loaded_read(map->l_addr, map->l_ld, &loaded);
	return !strcmp(loaded_soname(&loaded), "libibverbs.so.1");
}

/*
 * Looks the verb up, and sees in which object it is. Today's libibverbs does not have the legacy
 * verbs. For these it looks up a verb that every libibverbs has.
 */
static bool plugin_finds_libibverbs(void *handle, const char *verb)
{
	loader_dlsym_fn real = loader_dlsym();
	const void *found = real ? real(handle, verb) : NULL;
	struct link_map *map = NULL;
	Dl_info info;

	if (!found && real)
		found = real(handle, "ibv_get_device_list");
	return found && dladdr1(found, &info, (void **)&map, RTLD_DL_LINKMAP) &&
	       is_libibverbs(map);
}

bool dl_handle_finds_libibverbs(void *handle, const char *verb)
{
	struct link_map *map = NULL;

	if (handle == RTLD_DEFAULT || handle == RTLD_NEXT || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return false;
	if (is_libibverbs(map))
		return true;
	/*
	 * The first object of a namespace (dlmopen) has no l_prev, so the program's has none. Open
	 * MPI 1.8.5 to 1.8.8 asks by the program's handle whether the old API is there beside
	 * today's, and must not find that.
	 */
	return map->l_prev && plugin_finds_libibverbs(handle, verb);
}
