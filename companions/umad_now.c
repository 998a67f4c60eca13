/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Loads libibumad.so.3, and reads DT_NEEDED of the objects that call. */
#include "umad_now.h"

#include <elf/loaded.h>

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libibumad.so.3"

static void *_Atomic library;
static atomic_bool missing;

static void complain(const char *reason)
{
	const char *verbose = secure_getenv("XRC_COMPAT_VERBOSE"); /* read as in base/settings.c */

	if (!atomic_exchange(&missing, true) && verbose && *verbose && *verbose != '0')
		fprintf(stderr, "xrc-compat: libibumad.so.%d: %s; umad_init() fails\n",
			SONAME_VERSION, reason);
}

/*
 * pthread_once() could deadlock: its thread would wait in dlopen() for the loader's lock, and the
 * holder of that lock may run a constructor that calls these functions, and so waits for the
 * thread. Two threads may load the library, which only counts its uses.
 */
void *umad_now(const char *name)
{
	void *handle = atomic_load(&library);

	if (!handle && !atomic_load(&missing)) {
		handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
		if (handle)
			atomic_store(&library, handle);
		else
			complain(dlerror());
	}
	return handle ? dlsym(handle, name) : NULL;
}

/* 1, 2 or 3 for "libibumad.so.1" and so on; 0 for any other name. */
static int version_of(const char *name)
{
	static const char prefix[] = "libibumad.so.";
	size_t length = sizeof(prefix) - 1;

	if (strncmp(name, prefix, length) || name[length] < '1' || name[length] > '3' ||
	    name[length + 1])
		return 0;
	return name[length] - '0';
}

/* The version of the object's own soname, else of the libibumad that it needs; 0: none. */
static int version_of_object(const struct link_map *map)
{
	struct loaded loaded;
	int version;

	loaded_read(map->l_addr, map->l_ld, &loaded);
	version = version_of(loaded_soname(&loaded));
	for (const ElfW(Dyn) *entry = map->l_ld; !version && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_NEEDED)
			version = version_of(loaded_name(&loaded, entry->d_un.d_val));
	}
	return version;
}

int umad_caller(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;
	int version = 0;

	if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP))
		version = version_of_object(map);
	while (map && map->l_prev)
		map = map->l_prev;
	/*
	 * The first object is the program. It counts before SONAME_VERSION: if both versions are
	 * preloaded, the first one gets the calls for either.
	 */
	if (!version && map)
		version = version_of_object(map);
	return version ? version : SONAME_VERSION;
}
