/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Hooks of the functions that take a path. Those that tell what a file is are in hooks_stat.c. */
#include "hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/xattr.h>
#include <unistd.h>

static bool has_mode(int flags)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

/* The argument behind the flags of open(); 0 if there is none. */
#define TAKE_MODE(flags, mode) \
	do { \
		va_list args; \
\
		va_start(args, flags); \
		mode = has_mode(flags) ? va_arg(args, mode_t) : 0; \
		va_end(args); \
	} while (0)

/* The result of open(), or the device at @path. open() fails with ENXIO for a device's socket. */
static int opened(int fd, int directory, const char *path, int flags)
{
	int node;

	if (fd >= 0 || errno != ENXIO)
		return fd;
	node = node_at(directory, path);
	return node < 0 ? -1 : node_open(node, flags);
}

/*
 * open(), open64() of programs built with 64-bit file offsets, and __open_2(), which programs built
 * with _FORTIFY_SOURCE call for flags that are not constant. grep(1) calls openat(). The directory
 * does not matter for absolute paths, as ours are.
 */
#define OPEN_HOOKS(BITS) \
	HOOK int open##BITS(const char *path, int flags, ...) \
	{ \
		const char *place = REDIRECTED(path); \
		mode_t mode; \
\
		TAKE_MODE(flags, mode); \
		return opened(real()->open##BITS(place, flags, mode), AT_FDCWD, place, flags); \
	} \
	HOOK int __open##BITS##_2(const char *path, int flags); \
	HOOK int __open##BITS##_2(const char *path, int flags) \
	{ \
		const char *place = REDIRECTED(path); \
\
		return opened(real()->__open##BITS##_2(place, flags), AT_FDCWD, place, flags); \
	} \
	HOOK int openat##BITS(int directory, const char *path, int flags, ...) \
	{ \
		const char *place = REDIRECTED(path); \
		mode_t mode; \
\
		TAKE_MODE(flags, mode); \
		return opened(real()->openat##BITS(directory, place, flags, mode), directory, \
			      place, flags); \
	} \
	HOOK int __openat##BITS##_2(int directory, const char *path, int flags); \
	HOOK int __openat##BITS##_2(int directory, const char *path, int flags) \
	{ \
		const char *place = REDIRECTED(path); \
\
		return opened(real()->__openat##BITS##_2(directory, place, flags), directory, \
			      place, flags); \
	}

OPEN_HOOKS() /* open(), openat(), __open_2(), __openat_2() */
OPEN_HOOKS(64) /* open64(), openat64(), __open64_2(), __openat64_2() */

HOOK int access(const char *path, int mode)
{
	return real()->access(REDIRECTED(path), mode);
}

/* `test -r` of the shell calls it. */
HOOK int faccessat(int fd, const char *path, int mode, int flags)
{
	return real()->faccessat(fd, REDIRECTED(path), mode, flags);
}

/* bash and sort(1) call these. Inside, the C library calls its own faccessat(). */
HOOK int eaccess(const char *path, int mode)
{
	return real()->eaccess(REDIRECTED(path), mode);
}

HOOK int euidaccess(const char *path, int mode)
{
	return real()->euidaccess(REDIRECTED(path), mode);
}

HOOK FILE *fopen(const char *path, const char *mode)
{
	return real()->fopen(REDIRECTED(path), mode);
}

HOOK FILE *fopen64(const char *path, const char *mode)
{
	return real()->fopen64(REDIRECTED(path), mode);
}

/* ibstatus, a shell script, changes into these directories. */
HOOK int chdir(const char *path)
{
	return real()->chdir(REDIRECTED(path));
}

/* ---- links, and paths as results ---- */

/* Scripts find the adapter of a network interface by readlink(1). */
HOOK ssize_t readlink(const char *path, char *target, size_t size)
{
	return real()->readlink(REDIRECTED(path), target, size);
}

/* find(1) and cp(1) call it. */
HOOK ssize_t readlinkat(int fd, const char *path, char *target, size_t size)
{
	return real()->readlinkat(fd, REDIRECTED(path), target, size);
}

/* As programs built with _FORTIFY_SOURCE call them, if they do not know @size before they run. */
HOOK ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t room);
HOOK ssize_t __readlink_chk(const char *path, char *target, size_t size, size_t room)
{
	return real()->__readlink_chk(REDIRECTED(path), target, size, room);
}

HOOK ssize_t __readlinkat_chk(int fd, const char *path, char *target, size_t size, size_t room);
HOOK ssize_t __readlinkat_chk(int fd, const char *path, char *target, size_t size, size_t room)
{
	return real()->__readlinkat_chk(fd, REDIRECTED(path), target, size, room);
}

/* UCX, NCCL and hwloc take the PCI address of an adapter from its path. */
HOOK char *realpath(const char *path, char *resolved)
{
	char *result = real()->realpath(REDIRECTED(path), resolved);

	if (result && !place_is_inside(path))
		place_show(result);
	return result;
}

/* As programs built with _FORTIFY_SOURCE call it. */
HOOK char *__realpath_chk(const char *path, char *resolved, size_t size);
HOOK char *__realpath_chk(const char *path, char *resolved, size_t size)
{
	char *result = real()->__realpath_chk(REDIRECTED(path), resolved, size);

	if (result && !place_is_inside(path))
		place_show(result);
	return result;
}

/* cp(1) and df(1) call it. */
HOOK char *canonicalize_file_name(const char *path)
{
	return realpath(path, NULL);
}

/* `cd` and `pwd -P` of the shell. */
HOOK char *getcwd(char *path, size_t size)
{
	char *result = real()->getcwd(path, size);

	if (result)
		place_show(result);
	return result;
}

HOOK char *__getcwd_chk(char *path, size_t size, size_t room);
HOOK char *__getcwd_chk(char *path, size_t size, size_t room)
{
	char *result = real()->__getcwd_chk(path, size, room);

	if (result)
		place_show(result);
	return result;
}

/* ---- directories ---- */

/* libibumad calls it. Inside, the C library calls its own opendir(), which no hook sees. */
HOOK int scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
		 int (*compare)(const struct dirent **, const struct dirent **))
{
	return real()->scandir(REDIRECTED(path), names, filter, compare);
}

HOOK int scandir64(const char *path, struct dirent64 ***names,
		   int (*filter)(const struct dirent64 *),
		   int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
	return real()->scandir64(REDIRECTED(path), names, filter, compare);
}

HOOK DIR *opendir(const char *path)
{
	const char *redirected = REDIRECTED(path);
	DIR *dir = real()->opendir(redirected);

	if (dir && place_is_device_list(redirected))
		order_opened(dir);
	return dir;
}

/* find(1) asks a file for its type only if the entry does not tell it. */
#define READDIR_HOOK(BITS) \
	HOOK struct dirent##BITS *readdir##BITS(DIR *dir) \
	{ \
		bool ours; \
		struct dirent##BITS *entry = order_next##BITS(dir, &ours); \
\
		if (!ours) \
			entry = real()->readdir##BITS(dir); \
		if (entry && entry->d_type == DT_SOCK && node_at(dirfd(dir), entry->d_name) >= 0) \
			entry->d_type = DT_CHR; \
		return entry; \
	}

READDIR_HOOK() /* readdir() */
READDIR_HOOK(64) /* readdir64() */

HOOK void rewinddir(DIR *dir)
{
	order_rewound(dir);
	real()->rewinddir(dir);
}

HOOK int closedir(DIR *dir)
{
	order_closed(dir);
	return real()->closedir(dir);
}

/* ---- attributes, which ls(1) and cp(1) ask for ---- */

HOOK ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
	return real()->getxattr(REDIRECTED(path), name, value, size);
}

HOOK ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	return real()->lgetxattr(REDIRECTED(path), name, value, size);
}

HOOK ssize_t listxattr(const char *path, char *list, size_t size)
{
	return real()->listxattr(REDIRECTED(path), list, size);
}

HOOK ssize_t llistxattr(const char *path, char *list, size_t size)
{
	return real()->llistxattr(REDIRECTED(path), list, size);
}
