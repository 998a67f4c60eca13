/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Where libsofthca.so is, and the LD_PRELOAD that serves programs of both word sizes. */
#include "cli.h"

#include <dir.h>
#include <server/server.h>

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libsofthca.so"

/* The word size of the running program, and the other one. */
#define OWN_BITS   ((int)sizeof(void *) * 8)
#define OTHER_BITS (OWN_BITS == 64 ? 32 : 64)

/*
 * The loader's value of $LIB in programs of @bits, for example "lib/i386-linux-gnu" or "lib64": the
 * directory of the loader itself. 0, or -ENOENT if there is no such loader.
 */
#if defined(__x86_64__) || defined(__i386__)
static int lib_dir(int bits, char *directory, size_t size)
{
	char real[PATH_MAX];
	char *start = real + 1;

	if (!realpath(bits == 64 ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux.so.2", real))
		return -ENOENT;
	*strrchr(real, '/') = '\0';
	if (!strncmp(start, "usr/", 4))
		start += 4;
	return (size_t)snprintf(directory, size, "%s", start) < size ? 0 : -ENOENT;
}
#else /* of other CPUs, only one word size is supported */
static int lib_dir(int bits, char *directory, size_t size)
{
	(void)bits;
	(void)directory;
	(void)size;
	return -ENOENT;
}
#endif

/*
 * Whether the file is an ELF object of @bits. The name of its directory does not tell: /usr/lib has
 * 64-bit libraries on Arch, 32-bit ones on Fedora.
 */
static bool fits(const char *path, int bits)
{
	unsigned char ident[EI_CLASS + 1] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, ident, sizeof(ident));

	if (fd >= 0)
		close(fd);
	return length == (ssize_t)sizeof(ident) && !memcmp(ident, ELFMAG, SELFMAG) &&
	       ident[EI_CLASS] == (bits == 64 ? ELFCLASS64 : ELFCLASS32);
}

bool cli_preload_holds(const char *path)
{
	return !strpbrk(path, ": \t\n$");
}

int cli_find_preload(char *path, size_t size)
{
	char self[PATH_MAX], lib[NAME_MAX], here[PATH_MAX] = LIBRARY;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	/* Relative to this command: in a build, in the loader's $LIB, as installed. */
	const char *const below[] = { LIBRARY, here, "../" SOFTHCA_LIBDIR_FROM_BINDIR "/" LIBRARY };

	if (length < 0)
		return -ENOENT;
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	if (!lib_dir(OWN_BITS, lib, sizeof(lib)))
		snprintf(here, sizeof(here), "../%s/softhca/" LIBRARY, lib);
	for (size_t i = 0; i < sizeof(below) / sizeof(below[0]); i++) {
		if ((size_t)snprintf(path, size, "%s/%s", self, below[i]) < size &&
		    fits(path, OWN_BITS))
			return 0;
	}
	snprintf(path, size, "%s/" LIBRARY, SOFTHCA_LIBDIR);
	return access(path, R_OK) ? -ENOENT : 0;
}

/* Puts @to in place of @from in a path with "/@from/softhca/". -ENOENT without such a part. */
static int replace_dir(const char *path, const char *from, const char *to, char *result,
		       size_t size)
{
	char part[PATH_MAX];
	const char *at;
	int length;

	if ((size_t)snprintf(part, sizeof(part), "/%s/softhca/", from) >= sizeof(part))
		return -ENOENT;
	at = strstr(path, part);
	if (!at)
		return -ENOENT;
	length = snprintf(result, size, "%.*s/%s/softhca/%s", (int)(at - path), path, to,
			  at + strlen(part));
	return (size_t)length < size ? 0 : -ENOENT;
}

/*
 * The path of a library of OWN_BITS with $LIB in it. One LD_PRELOAD serves programs of both word
 * sizes if the paths of their libraries differ only in that directory. -ENOENT if programs of the
 * other word size would not find a library of theirs there.
 */
static int installed_setting(const char *path, char *setting, size_t size)
{
	char own[NAME_MAX], other[NAME_MAX], there[PATH_MAX];

	if (lib_dir(OWN_BITS, own, sizeof(own)) || lib_dir(OTHER_BITS, other, sizeof(other)) ||
	    replace_dir(path, own, other, there, sizeof(there)) ||
	    !fits(there, OTHER_BITS))
		return -ENOENT;
	return replace_dir(path, own, "$LIB", setting, size);
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
		if (fits(path, OTHER_BITS))
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
	/* Another run that shares the daemon may have made it. */
	return symlink(target, path) && errno != EEXIST ? -errno : 0;
}

/* Links in the daemon's directory, whose paths differ in $LIB only; those in builds do not. */
static int link_both(const char *home, const char *preload, char *setting, size_t size)
{
	char own[NAME_MAX], other[NAME_MAX], there[PATH_MAX];
	int err;

	if (!cli_preload_holds(home) || other_build(preload, there, sizeof(there)) ||
	    lib_dir(OWN_BITS, own, sizeof(own)) || lib_dir(OTHER_BITS, other, sizeof(other)))
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

	if (!installed_setting(preload, setting, size))
		return 0;
	err = home ? link_both(home, preload, setting, size) : -ENOENT;
	if (err == -ENOENT)
		return (size_t)snprintf(setting, size, "%s", preload) < size ? 0 : -ENAMETOOLONG;
	return err;
}
