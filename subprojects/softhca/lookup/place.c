/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which paths belong to the emulated machine, and where they really are. */
#include "lookup.h"

#include <own/own.h>
#include <own/real.h>
#include <dir.h>
#include <proto.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char directory[DIR_MAX + 1]; /* "" = none can be used */
static int why_none; /* -errno */

static void find_directory(void)
{
	int saved = errno;

	why_none = dir_find(directory);
	if (why_none)
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
	char place[DIR_MAX + 1];

	if (dir_default(place))
		TELL_ONCE("no emulated adapters: by %s the daemon's directory is no absolute path, or too long\n",
			  dir_variable());
	else if (why_none == -EPERM)
		TELL_ONCE("no emulated adapters: %s is another user's, or open to others; 'softhca start' starts a daemon "
			  "of your own\n",
			  place);
	else
		TELL_ONCE("no emulated adapters: no daemon in %s; 'softhca start' starts one\n",
			  place);
}

/* True if @path is @prefix or lies below it, not if it only begins alike. */
static bool is_below(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	return !strncmp(path, prefix, length) && (path[length] == '\0' || path[length] == '/');
}

static bool is_of_device(const char *path)
{
	return is_below(path, "/sys/class/infiniband") ||
	       is_below(path, "/sys/class/infiniband_verbs") ||
	       is_below(path, "/sys/class/misc/rdma_cm");
}

/* Below `run --net` the ports may have interfaces. Else the machine's own are seen. */
static bool is_of_interface(const char *path)
{
	char tree[PATH_MAX];

	return is_below(path, "/sys/class/net") && place_dir() &&
	       !dir_join(tree, sizeof(tree), directory, SOFTHCA_SYSFS "/class/net") &&
	       !real()->access(tree, F_OK);
}

static bool is_of_module(const char *path)
{
	return !strncmp(path, "/sys/module/", 12);
}

/* The place of @path in the daemon's directory, or NULL. */
static const char *emulated(const char *path)
{
	if (!strcmp(path, "/proc/modules"))
		return SOFTHCA_SYSFS "/" SYSFS_MODULES;
	return is_of_module(path) || is_of_device(path) || is_of_interface(path) ? path + 1 : NULL;
}

const char *place_redirect(const char *path, char *buffer, size_t size)
{
	const char *place = path ? emulated(path) : NULL;

	if (!place || !place_dir() || dir_join(buffer, size, directory, place))
		return path;
	/* The machine has other modules, too. */
	return is_of_module(path) && real()->access(buffer, F_OK) ? path : buffer;
}

bool place_is_cm(const char *path)
{
	return path && !strcmp(path, "/dev/infiniband/rdma_cm") && place_dir();
}

/* Names a file of the device tree that is there if the device is. */
static void name_device(unsigned int index, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s/" SOFTHCA_SYSFS "/class/infiniband_verbs/uverbs%u/dev",
		 directory, index);
}

int place_open_device(unsigned int index)
{
	char path[PATH_MAX];

	name_device(index, path, sizeof(path));
	return real()->open(path, O_RDONLY | O_CLOEXEC);
}

const char *place_to_look(const char *path, char *buffer, size_t size)
{
	int index = place_uverbs(path);

	if (place_is_cm(path))
		return "/dev/null";
	if (index < 0)
		return place_redirect(path, buffer, size);
	name_device((unsigned int)index, buffer, size);
	return real()->access(buffer, F_OK) ? buffer : "/dev/null";
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
