/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Where libsofthca.so is, and the LD_PRELOAD that serves programs of both word sizes. */
#include "cli.h"
#include "lib_dir.h"

#include <proto.h>
#include <server/server.h>

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libsofthca.so"

int cli_find_preload(char *path, size_t size)
{
	char self[PATH_MAX], lib[NAME_MAX], here[PATH_MAX] = LIBRARY;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	/* Relative to this command: in a build, in the loader's $LIB, as installed. */
	const char *const below[] = { LIBRARY, here, "../" SOFTHCA_LIBDIR_FROM_BINDIR "/" LIBRARY };
	char *slash;

	if (length < 0)
		return -ENOENT;
	self[length] = '\0';
	slash = strrchr(self, '/');
	*slash = '\0';
	if (!lib_dir(OWN_BITS, lib, sizeof(lib)))
		snprintf(here, sizeof(here), "../%s/softhca/" LIBRARY, lib);
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		if ((size_t)snprintf(path, size, "%s/%s", self, below[i]) < size &&
		    lib_dir_fits(path, OWN_BITS))
			return 0;
	}
	snprintf(path, size, "%s/" LIBRARY, SOFTHCA_LIBDIR);
	return access(path, R_OK) ? -ENOENT : 0;
}

/*
 * The other word size is built in "build-i386" if this one is in "build", or vice versa. Softhca may
 * be a subproject, so the build directory may be any that contains the library.
 */
static int other_build(const char *preload, char *path, size_t size)
{
	static const char mark[] = "-i386";
	const size_t tail = sizeof(mark) - 1;

	for (const char *end = strchr(preload + 1, '/'); end; end = strchr(end + 1, '/')) {
		int length = (int)(end - preload);

		if ((size_t)length > tail && !strncmp(end - tail, mark, tail))
			snprintf(path, size, "%.*s%s", length - (int)tail, preload, end);
		else
			snprintf(path, size, "%.*s%s%s", length, preload, mark, end);
		if (lib_dir_fits(path, OTHER_BITS))
			return 0;
	}
	return -ENOENT;
}

/* @home/preload/@lib/libsofthca.so -> @target, with each directory on the way. */
static int link_below(const char *home, const char *lib, const char *target)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/" SOFTHCA_PRELOAD "/%s/" LIBRARY, home, lib) >=
	    sizeof(path))
		return -ENAMETOOLONG;
	for (char *slash = strchr(path + strlen(home) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return symlink(target, path) ? -errno : 0;
}

/* Links in the daemon's directory, whose paths differ in $LIB only; those in builds do not. */
static int link_both(const char *home, const char *preload, char *setting, size_t size)
{
	char own[NAME_MAX], other[NAME_MAX], there[PATH_MAX];
	int err;

	if (other_build(preload, there, sizeof(there)) ||
	    lib_dir(OWN_BITS, own, sizeof(own)) ||
	    lib_dir(OTHER_BITS, other, sizeof(other)))
		return -ENOENT;
	err = link_below(home, own, preload);
	if (!err)
		err = link_below(home, other, there);
	if (!err &&
	    (size_t)snprintf(setting, size, "%s/" SOFTHCA_PRELOAD "/$LIB/" LIBRARY, home) >= size)
		err = -ENAMETOOLONG;
	return err;
}

int cli_preload_setting(const char *home, const char *preload, char *setting, size_t size)
{
	int err;

	if (!lib_dir_setting(preload, setting, size))
		return 0;
	err = home ? link_both(home, preload, setting, size) : -ENOENT;
	if (err == -ENOENT)
		return (size_t)snprintf(setting, size, "%s", preload) < size ? 0 : -ENAMETOOLONG;
	return err;
}
