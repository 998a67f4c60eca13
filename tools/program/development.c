/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The names of development packages that programs open libraries by. */
#include "libraries.h"
#include "tools/files/paths.h"
#include "tools/files/regular.h"

#include <string.h>

const struct development_name development_names[] = {
	{ "libibverbs.so", "libibverbs.so.1", "MV2_LIBIBVERBS_PATH" },
	{ "librdmacm.so", "librdmacm.so.1", "MV2_LIBRDMACM_PATH" },
	{ "libibumad.so", "libibumad.so.3", "MV2_LIBIBUMAD_PATH" },
	{ "libibmad.so", "libibmad.so.5", "MV2_LIBIBMAD_PATH" },
	{ 0 },
};

bool is_platform_mpi(const char *path)
{
	return regular_has(path, "MPI_ICLIB_IBV") || regular_has(path, "MPI_ICMOD_IBV");
}

bool closure_opens(const struct closure *closure, const char *name)
{
	bool is_verbs = !strcmp(name, development_names[0].name);

	for (size_t i = 0; i < closure->count; i++) {
		const struct loaded_object *object = &closure->object[i];

		/* `xrc-compat run` may start this command again, which has all the names. */
		if (!strcmp(object->path, paths_self()))
			continue;
		if (elf_info_names(&object->elf, object->path, name) ||
		    (is_verbs && is_platform_mpi(object->path)))
			return true;
	}
	return false;
}

bool companion_serves(const char *name, const char *object, bool anyway)
{
	const struct development_name *row = development_names;
	const char *found;

	while (row->name && strcmp(row->name, name) != 0)
		row++;
	if (!row->name)
		return true;
	found = library_found(name, object, false);
	if (found && !anyway && (row != development_names || !libibverbs_is_old(found)))
		return false;
	/* If a library is missing that a preloaded one needs, the loader starts no program. */
	return library_found(row->today, object, false) != NULL;
}
