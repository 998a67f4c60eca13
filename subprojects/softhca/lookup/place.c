/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which paths belong to the emulated machine, and where they really are. */
#include "lookup.h"

#include <own/own.h>
#include <own/real.h>
#include <dir.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
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
		TELL_ONCE(
			"no emulated adapters: %s gives no absolute path, or one that is too long\n",
			dir_variable());
	else if (why_none == -ENOENT)
		TELL_ONCE("no emulated adapters: no daemon in %s; 'softhca start' starts one\n",
			  place);
	else if (why_none == -EPERM)
		TELL_ONCE(
			"no emulated adapters: %s is another user's, or open to others; name another directory with "
			"SOFTHCA_DIR\n",
			place);
	else
		TELL_ONCE("no emulated adapters: %s: %s\n", place, strerror(-why_none));
}

/* True if @path is @prefix or lies below it, not if it only begins alike. */
static bool is_below(const char *path, const char *prefix)
{
	size_t length = strlen(prefix);

	return !strncmp(path, prefix, length) && (path[length] == '\0' || path[length] == '/');
}

/* What @path has behind the first of @places that it is or is below; NULL if there is none. */
static const char *behind(const char *path, const char *const *places)
{
	for (; *places; places++) {
		if (is_below(path, *places))
			return path + strlen(*places);
	}
	return NULL;
}

static const char *behind_device(const char *path)
{
	static const char *const places[] = {
		"/dev/infiniband",   "/sys/class/infiniband",	       "/sys/class/misc/rdma_cm",
		"/sys/" SYSFS_VERBS, ("/sys/devices/" SYSFS_PCI_ROOT), NULL,
	};

	return behind(path, places);
}

/* True if the ports have interfaces, which only `run --net` makes. They hide the real machine's. */
static bool is_of_interface(const char *path)
{
	char tree[PATH_MAX];

	return is_below(path, "/sys/class/net") && place_dir() &&
	       !dir_join(tree, sizeof(tree), directory, SOFTHCA_SYSFS "/class/net") &&
	       !real()->access(tree, F_OK);
}

/* Places where the real machine's entries are seen, too: all that the daemon's tree lacks. */
static bool is_shared(const char *path)
{
	static const char *const places[] = { "/sys/module", "/sys/bus/pci", "/sys/class/pci_bus",
					      NULL };

	const char *rest = behind(path, places);

	/* The directory itself is the machine's, also with a slash or a dot behind it. */
	return rest && rest[strspn(rest, "/.")];
}

/* A program pays no more than this test for most files that are not in /sys, /dev or /proc. */
static bool may_be_ours(const char *path)
{
	return path && path[0] == '/' && (path[1] == 's' || path[1] == 'd' || path[1] == 'p');
}

/* The place of @path in the daemon's directory, or NULL. */
static const char *emulated(const char *path)
{
	if (!may_be_ours(path))
		return NULL;
	if (!strcmp(path, "/proc/modules"))
		return SOFTHCA_SYSFS "/" SYSFS_MODULES;
	return is_shared(path) || behind_device(path) || is_of_interface(path) ? path + 1 : NULL;
}

/*
 * The rest of a path that leaves a directory of devices by `..`, else NULL. The kernel cannot
 * follow such a path if the real machine lacks the directory.
 */
static const char *beside_devices(const char *path)
{
	const char *rest = behind_device(path);

	return rest && is_below(rest, "/..") ? rest + 3 : NULL;
}

const char *place_redirect(const char *path, char *buffer, size_t size)
{
	const char *place = emulated(path), *beside;

	if (!place || !place_dir() || dir_join(buffer, size, directory, place))
		return path;
	beside = beside_devices(path);
	if (!beside)
		return is_shared(path) && real()->access(buffer, F_OK) ? path : buffer;
	/* The parent itself is the machine's. A link of the daemon's tree may lead through it. */
	if (beside[strspn(beside, "/.")] && !real()->access(buffer, F_OK))
		return buffer;
	place = memrchr(path, '/', (size_t)(beside - strlen("/..") - path));
	snprintf(buffer, size, "%.*s%s", (int)(place - path), path, beside);
	return buffer;
}

bool place_is_inside(const char *path)
{
	return path && place_dir() && is_below(path, directory);
}

void place_show(char *path)
{
	const char *shown = place_is_inside(path) ? path + strlen(directory) : "";

	if (is_below(shown, "/" SOFTHCA_SYSFS) || is_below(shown, "/" SOFTHCA_DEV))
		memmove(path, shown, strlen(shown) + 1);
}

int place_open_device(unsigned int index)
{
	char path[PATH_MAX];

	/* A file of the device tree that is there if the device is. */
	snprintf(path, sizeof(path),
		 "%s/" SOFTHCA_SYSFS "/" SYSFS_VERBS "/" SOFTHCA_VERBS_NODE "%u/dev", directory,
		 index);
	return real()->open(path, O_RDONLY | O_CLOEXEC);
}

bool place_is_device_list(const char *path)
{
	static const char list[] = "/" SOFTHCA_SYSFS "/" SYSFS_VERBS;
	const char *rest;

	if (!place_is_inside(path))
		return false;
	rest = path + strlen(directory);
	/* Slashes may follow. */
	return is_below(rest, list) && !rest[strspn(rest + strlen(list), "/") + strlen(list)];
}
