/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Hooks of the functions that tell what a file is. A device is a character device. */
#include "hooks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* The node of the descriptor that an empty path stands for; -1: none, or there is a path. */
static int node_of_empty(int fd, const char *path, int flags)
{
	return (flags & AT_EMPTY_PATH) && path && !path[0] ? dev_node(fd) : -1;
}

/*
 * stat(), stat64() of programs built with 64-bit file offsets, and __xstat() of programs linked
 * with glibc before 2.33.
 *
 * The descriptor of a device is a memfd or a socket, because no process can make a character device
 * that can be mapped or waited for. fstat(), and the others with an empty path, show it as one.
 */
#define STAT_HOOKS(BITS) \
	static void number##BITS(int node, struct stat##BITS *st) \
	{ \
		st->st_mode = (st->st_mode & ~(mode_t)S_IFMT) | S_IFCHR; \
		st->st_rdev = node_number(node); \
	} \
\
	/* Returns @err. */ \
	static int show##BITS(int err, struct stat##BITS *st) \
	{ \
		int node = !err && S_ISSOCK(st->st_mode) ? node_find(st->st_dev, st->st_ino) : -1; \
\
		if (node >= 0) \
			number##BITS(node, st); \
		return err; \
	} \
\
	static int fill##BITS(int node, struct stat##BITS *st) \
	{ \
		char path[PATH_MAX]; \
		int err = real_stats()->stat##BITS(node_path(node, path), st); \
\
		if (!err) \
			number##BITS(node, st); \
		return err; \
	} \
\
	HOOK int stat##BITS(const char *path, struct stat##BITS *st) \
	{ \
		return show##BITS(real_stats()->stat##BITS(REDIRECTED(path), st), st); \
	} \
	HOOK int lstat##BITS(const char *path, struct stat##BITS *st) \
	{ \
		return show##BITS(real_stats()->lstat##BITS(REDIRECTED(path), st), st); \
	} \
	HOOK int fstat##BITS(int fd, struct stat##BITS *st) \
	{ \
		int node = dev_node(fd); \
\
		return node >= 0 ? fill##BITS(node, st) \
				 : show##BITS(real_stats()->fstat##BITS(fd, st), st); \
	} \
	HOOK int fstatat##BITS(int fd, const char *path, struct stat##BITS *st, int flags) \
	{ \
		int node = node_of_empty(fd, path, flags); \
\
		return node >= 0 ? fill##BITS(node, st) \
				 : show##BITS(real_stats()->fstatat##BITS(fd, REDIRECTED(path), \
									  st, flags), \
					      st); \
	} \
	HOOK int __xstat##BITS(int version, const char *path, struct stat##BITS *st); \
	HOOK int __xstat##BITS(int version, const char *path, struct stat##BITS *st) \
	{ \
		return show##BITS(real_stats()->__xstat##BITS(version, REDIRECTED(path), st), st); \
	} \
	HOOK int __lxstat##BITS(int version, const char *path, struct stat##BITS *st); \
	HOOK int __lxstat##BITS(int version, const char *path, struct stat##BITS *st) \
	{ \
		return show##BITS(real_stats()->__lxstat##BITS(version, REDIRECTED(path), st), \
				  st); \
	} \
	HOOK int __fxstat##BITS(int version, int fd, struct stat##BITS *st); \
	HOOK int __fxstat##BITS(int version, int fd, struct stat##BITS *st) \
	{ \
		int node = dev_node(fd); \
\
		return node >= 0 ? fill##BITS(node, st) \
				 : show##BITS(real_stats()->__fxstat##BITS(version, fd, st), st); \
	} \
	HOOK int __fxstatat##BITS(int version, int fd, const char *path, struct stat##BITS *st, \
				  int flags); \
	HOOK int __fxstatat##BITS(int version, int fd, const char *path, struct stat##BITS *st, \
				  int flags) \
	{ \
		int node = node_of_empty(fd, path, flags); \
\
		return node >= 0 ? fill##BITS(node, st) \
				 : show##BITS(real_stats()->__fxstatat##BITS( \
						      version, fd, REDIRECTED(path), st, flags), \
					      st); \
	}

/* stat(), lstat(), fstat(), fstatat(), __xstat(), __lxstat(), __fxstat(), __fxstatat() */
STAT_HOOKS()
/*
 * stat64(), lstat64(), fstat64(), fstatat64(), __xstat64(), __lxstat64(), __fxstat64() and
 * __fxstatat64()
 */
STAT_HOOKS(64)

HOOK int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *st);

#ifdef STATX_TYPE
static void show_statx(int node, struct statx *st)
{
	if (node < 0 && S_ISSOCK(st->stx_mode))
		node = node_find(makedev(st->stx_dev_major, st->stx_dev_minor), st->stx_ino);
	if (node < 0)
		return;
	st->stx_mode = (unsigned short)((st->stx_mode & ~S_IFMT) | S_IFCHR);
	st->stx_rdev_major = major(node_number(node));
	st->stx_rdev_minor = minor(node_number(node));
}
#else /* glibc before 2.28 has no struct statx */
static void show_statx(int node, struct statx *st)
{
	(void)node;
	(void)st;
}
#endif

/* ls(1) calls it for each name that it is given. */
HOOK int statx(int fd, const char *path, int flags, unsigned int mask, struct statx *st)
{
	int node = node_of_empty(fd, path, flags);
	char place[PATH_MAX];
	int err;

	/* A program that looks for statx() finds this one with any C library. */
	if (!real_stats()->statx) {
		errno = ENOSYS;
		return -1;
	}
	path = node >= 0 ? node_path(node, place) : REDIRECTED(path);
	err = real_stats()->statx(fd, path, flags, mask, st);
	if (!err)
		show_statx(node, st);
	return err;
}
