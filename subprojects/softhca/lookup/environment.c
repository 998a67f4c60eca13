/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The variables that the preload sets in the program, for libibverbs and libmlx5. */
#include "lookup.h"

#include <own/real.h>
#include <dir.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

#define ENTRIES (2 + ALLOC_TYPES) /* SYSFS_PATH, SOFTHCA_HOST, and those above */

/*
 * Not by setenv(), which moves the table of the variables into the heap. After ibv_fork_init() a
 * child lacks the pages of the heap in which memory is registered, and execve() would read the
 * table there.
 */
static void put(char *entry)
{
	size_t name = strcspn(entry, "=") + 1;
	char **at = environ;

	while (*at && strncmp(*at, entry, name))
		at++;
	if (!*at)
		at[1] = NULL;
	*at = entry;
}

/* Moves the table to where it has room for the entries of put(). */
static bool make_room(void)
{
	size_t count = 0;
	char **table;

	while (environ && environ[count])
		count++;
	table = real()->mmap(NULL, (count + ENTRIES + 1) * sizeof(*table), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (table == MAP_FAILED)
		return false;
	memcpy(table, environ, count * sizeof(*table));
	environ = table;
	return true;
}

/* Copied even if it is inherited, so that environment_map_no_rings() can change it in place. */
static void ask_for_mapped_rings(void)
{
	for (size_t i = 0; i < ALLOC_TYPES; i++) {
		char name[sizeof(alloc_type[0])];
		const char *value;

		strcpy(name, alloc_type[i]);
		name[strcspn(name, "=")] = '\0';
		value = getenv(name);
		/* A parent may have changed the first letter, as below. */
		if (!value || (value[0] && !strcmp(value + 1, &MAPPED[1])))
			put(alloc_type[i]);
	}
}

/* Writes into the value: setenv() races with getenv(). libmlx5 ignores values it does not know. */
void environment_map_no_rings(void)
{
	for (size_t i = 0; i < ALLOC_TYPES; i++)
		__atomic_store_n(strchr(alloc_type[i], '=') + 1, '-', __ATOMIC_RELAXED);
}

/* libibverbs finds the device tree by SYSFS_PATH; for programs the hooks redirect /sys. */
__attribute__((constructor)) static void set_environment(void)
{
	static char path[sizeof("SYSFS_PATH=") + DIR_MAX + sizeof("/" SOFTHCA_SYSFS)];
	char *host;

	if (!place_dir() || !make_room())
		return;
	snprintf(path, sizeof(path), "SYSFS_PATH=%s/" SOFTHCA_SYSFS, place_dir());
	put(path);
	host = host_by_rank();
	if (host)
		put(host);
	ask_for_mapped_rings();
}
