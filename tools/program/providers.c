/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Finds out why libibverbs does not list a device that the kernel has. The libibverbs of each
 * release contains the names of its providers and of the directory with their configuration.
 */
#include "providers.h"
#include "closure.h"
#include "libibverbs.h"

#include <tools/files/paths.h>
#include <tools/files/regular.h>
#include <tools/text/memory.h>

#include <glob.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the kernel's devices ---- */

static const struct provider {
	const char *driver, *name;
#define ROW(DRIVER, PROVIDER) { DRIVER, PROVIDER },
} providers[] = { XRC_PROVIDERS(ROW){ 0 } };
#undef ROW

static const char *sysfs(const char *name)
{
	const char *chosen = getenv("SYSFS_PATH");	/* as in libibverbs */

	return format_string("%s/class/%s", chosen ? chosen : "/sys", name);
}

static const char *driver_of(const char *device)
{
	char target[PATH_MAX];
	ssize_t size = readlink(sysfs(format_string("infiniband/%s/device/driver", device)), target,
				sizeof(target) - 1);

	target[size > 0 ? size : 0] = '\0';
	return copy_string(basename(target));
}

static const struct provider *provider_of(const char *device)
{
	const char *driver = driver_of(device);
	const struct provider *row = providers;

	while (row->driver && strcmp(row->driver, driver) != 0)
		row++;
	return row->driver ? row : NULL;
}

static bool is_listed(const struct device_list *list, const char *name)
{
	EACH(device, list->device, list->count) {
		if (!strcmp(device->name, name))
			return true;
	}
	return false;
}

static const char *find_unlisted(const struct device_list *list, const char *wanted)
{
	const char *found = NULL;
	glob_t devices = { 0 };

	glob(sysfs("infiniband/*"), 0, NULL, &devices);
	for (size_t i = 0; i < devices.gl_pathc; i++) {
		const char *name = basename(devices.gl_pathv[i]);

		if (!is_listed(list, name) && (!wanted || !strcmp(wanted, name)) &&
		    (!found || (provider_of(name) && !provider_of(found))))
			found = copy_string(name);
	}
	globfree(&devices);
	return found;
}

/* The first file that @pattern leads to and whose first 4095 bytes have the text, or NULL. */
static const char *find_file(const char *pattern, const char *text)
{
	const char *found = NULL;
	glob_t files = { 0 };
	char begin[4096];

	glob(pattern, 0, NULL, &files);
	for (size_t i = 0; i < files.gl_pathc && !found; i++) {
		if (regular_read(files.gl_pathv[i], begin, sizeof(begin)) >= 0 &&
		    strstr(begin, text))
			found = copy_string(files.gl_pathv[i]);
	}
	globfree(&files);
	return found;
}

/* ---- why it has no provider ---- */

static const char *load_advice(void)
{
	const char *dirs = getenv("LD_LIBRARY_PATH");

	if (dirs && dirs[0])
		return LIBIBVERBS_LOAD_ADVICE;
	return "install the drivers of this libibverbs (Debian: ibverbs-providers; RPM: libibverbs); in a "
	       "container those of its image, because the host's may be of another release";
}

struct driver_fault providers_load_fault(const char *libibverbs, const char *object)
{
	const char *preload = libibverbs;

	for (const struct provider *row = providers; row->name; row++) {
		const char *path = libibverbs_provider(libibverbs, row->name);

		if (path && !access(path, F_OK))
			preload = format_string("%s:%s", preload, path);
	}
	return (struct driver_fault){ closure_load_fault(preload, object), load_advice() };
}

/* @path: of the provider @name. */
static const char *fault_of(const char *library, const char *path, const char *name)
{
	const char *config, *pattern, *other, *fault;

	if (access(path, R_OK)) {
		pattern = format_string("%.*s-rdmav*", (int)(strrchr(path, '-') - path), path);
		other = find_file(pattern, "");
		return format_string("%s is missing%s%s", path, other ? "; another release has " : "",
				     other ? basename(other) : "");
	}
	config = regular_string(library, "/libibverbs.d");
	if (config && !find_file(format_string("%s/*.driver", config), name))
		return format_string("no file in %s names %s", config, name);
	fault = providers_load_fault(library, paths_self()).text;
	return fault ? fault : format_string("%s does not serve it", path);
}

struct driver_fault providers_missing_device(const char *library, const struct device_list *list,
					     const char *wanted)
{
	const char *device = find_unlisted(list, wanted);
	const char *driver = device ? driver_of(device) : "";	/* a virtual interface has none */
	const struct provider *provider = device ? provider_of(device) : NULL;
	const char *path = provider ? libibverbs_provider(library, provider->name) : NULL;

	/* Another kind of device does not matter beside those that libibverbs lists. */
	if (!device || (list->count && !provider))
		return (struct driver_fault){ 0 };
	if (!find_file(sysfs("infiniband_verbs/*/ibdev"), format_string("%s\n", device)))
		return (struct driver_fault){
			format_string("the kernel has the device %s, but no uverbs file for it", device),
			"modprobe ib_uverbs",
		};
	return (struct driver_fault){
		format_string("the kernel has the device %s%s, but libibverbs (%s, %s) has no driver for it%s%s",
			      device, driver[0] ? format_string(" (%s)", driver) : "", library,
			      libibverbs_release_name(library), path ? ": " : "",
			      path ? fault_of(library, path, provider->name) : ""),
		load_advice(),
	};
}
