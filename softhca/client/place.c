/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which paths belong to the emulated machine, and where they really are. */
#include "client.h"

#include <softhca/dir.h>
#include <softhca/proto.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char directory[DIR_MAX + 1]; /* "" = there is none to be used, because of */
static int missing;

static void find_directory(void)
{
	int saved = errno;

	missing = dir_default(directory);
	if (!missing)
		missing = dir_check(directory);
	if (missing)
		directory[0] = '\0';
	errno = saved;
}

const char *place_dir(void)
{
	pthread_once(&once, find_directory);
	return directory[0] ? directory : NULL;
}

void place_explain(void)
{
	static atomic_bool said;
	char place[DIR_MAX + 1];

	if (place_dir() || atomic_exchange(&said, true))
		return;
	if (dir_default(place))
		fprintf(stderr,
			"softhca: no emulated adapters: by %s the daemon's directory is no absolute path, or too long\n",
			dir_variable());
	else if (missing == -EPERM)
		fprintf(stderr,
			"softhca: no emulated adapters: %s is another user's, or open to others; 'softhca start' starts a daemon "
			"of your own\n",
			place);
	else
		fprintf(stderr,
			"softhca: no emulated adapters: no daemon in %s; 'softhca start' starts one\n",
			place);
}

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

/* Copied even if it is inherited, so that it can be changed in place later. */
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

/* In place: setenv() races with getenv(). libmlx5 ignores a value that it does not know. */
void place_map_rings(bool map)
{
	for (size_t i = 0; i < ALLOC_TYPES; i++)
		__atomic_store_n(strchr(alloc_type[i], '=') + 1, map ? MAPPED[0] : '-',
				 __ATOMIC_RELAXED);
}

/* libibverbs takes its device tree from here. The hooks redirect /sys for programs. */
__attribute__((constructor)) static void point_providers_here(void)
{
	char path[DIR_MAX + sizeof("/" SOFTHCA_SYSFS)];

	if (!place_dir() || dir_join(path, sizeof(path), directory, SOFTHCA_SYSFS))
		return;
	setenv("SYSFS_PATH", path, 1);
	host_by_rank();
	ask_for_mapped_rings();
}

/* @text if @path is @prefix or lies below it; NULL if it only begins alike. */
static const char *below(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	if (strncmp(path, prefix, length))
		return NULL;
	return path[length] == '\0' || path[length] == '/' ? path + length : NULL;
}

const char *place_redirect(const char *path, char *buffer, size_t size)
{
	if (!path || strncmp(path, "/sys/class/", 11) || !place_dir())
		return path;
	if (!below(path, "/sys/class/infiniband") && !below(path, "/sys/class/infiniband_verbs") &&
	    !below(path, "/sys/class/misc/rdma_cm"))
		return path;
	return dir_join(buffer, size, directory, path + 1) ? path : buffer;
}

bool place_is_cm(const char *path)
{
	return path && !strcmp(path, "/dev/infiniband/rdma_cm") && place_dir();
}

int place_open_device(unsigned int index)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" SOFTHCA_SYSFS "/class/infiniband_verbs/uverbs%u/dev",
		 directory, index);
	return real()->open(path, O_RDONLY | O_CLOEXEC);
}

bool place_is_device_list(const char *path)
{
	size_t length = strlen(directory);

	return path && place_dir() && !strncmp(path, directory, length) &&
	       !strcmp(path + length, "/" SOFTHCA_SYSFS "/class/infiniband_verbs");
}

int place_uverbs(const char *path)
{
	static const char prefix[] = "/dev/infiniband/uverbs";
	const char *digits;
	char *end;
	unsigned long index;

	if (!path || strncmp(path, prefix, sizeof(prefix) - 1))
		return -1;
	digits = path + sizeof(prefix) - 1;
	if (digits[0] < '0' || digits[0] > '9' || !place_dir())
		return -1;
	index = strtoul(digits, &end, 10);
	return *end || index > 255 ? -1 : (int)index;
}
