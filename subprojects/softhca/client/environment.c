/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The variables that the preload sets in the program, for libibverbs and libmlx5. */
#include "client.h"

#include <dir.h>
#include <proto.h>

#include <stdlib.h>
#include <string.h>

/*
 * By default libmlx5 takes memory for its rings from the heap, which the daemon reaches by system
 * calls only. With this setting it first tries to map it from the device, and gets the arena. A
 * setting of the user is left alone.
 */
#define MAPPED "PREFER_CONTIG"
static char alloc_type[][sizeof("MLX_SRQ_ALLOC_TYPE=" MAPPED)] = {
	"MLX_QP_ALLOC_TYPE=" MAPPED, "MLX_CQ_ALLOC_TYPE=" MAPPED, "MLX_SRQ_ALLOC_TYPE=" MAPPED,
};
#define ALLOC_TYPES (sizeof(alloc_type) / sizeof(alloc_type[0]))

/* Copied even if it is inherited, so that environment_map_rings() can change it in place. */
static void ask_for_mapped_rings(void)
{
	for (size_t i = 0; i < ALLOC_TYPES; i++) {
		char name[sizeof(alloc_type[0])];
		const char *value;

		strcpy(name, alloc_type[i]);
		name[strcspn(name, "=")] = '\0';
		value = getenv(name);
		if (!value || !strcmp(value, MAPPED))
			putenv(alloc_type[i]);
	}
}

/* Writes into the value: setenv() races with getenv(). libmlx5 ignores values it does not know. */
void environment_map_rings(bool map)
{
	for (size_t i = 0; i < ALLOC_TYPES; i++)
		__atomic_store_n(strchr(alloc_type[i], '=') + 1, map ? MAPPED[0] : '-',
				 __ATOMIC_RELAXED);
}

/* libibverbs finds the device tree by SYSFS_PATH; for programs the hooks redirect /sys. */
__attribute__((constructor)) static void set_environment(void)
{
	char path[DIR_MAX + sizeof("/" SOFTHCA_SYSFS)];

	if (!place_dir() || dir_join(path, sizeof(path), place_dir(), SOFTHCA_SYSFS))
		return;
	setenv("SYSFS_PATH", path, 1);
	host_by_rank();
	ask_for_mapped_rings();
}
