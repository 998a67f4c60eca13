/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the dynamic loader of each class (32 or 64 bits) puts in place of $LIB in LD_PRELOAD. If the
 * paths of our 32-bit and 64-bit libraries differ only in that folder, one setting works for
 * programs of both classes.
 */
#ifndef ELF_LIB_FOLDER_H
#define ELF_LIB_FOLDER_H

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOADER_LIB_OWN_BITS ((int)sizeof(void *) * 8)
#define LOADER_LIB_OTHER_BITS (96 - LOADER_LIB_OWN_BITS)

/*
 * "lib/i386-linux-gnu", "lib64" and the like: the folder of the loader itself. 0, or -ENOENT
 * without a loader for @bits.
 */
static inline int loader_lib(int bits, char *lib, size_t size)
{
#if defined(__x86_64__) || defined(__i386__)
	char real[PATH_MAX];
	char *start = real + 1;

	if (!realpath(bits == 64 ? "/lib64/ld-linux-x86-64.so.2" : "/lib/ld-linux.so.2", real))
		return -ENOENT;
	*strrchr(real, '/') = '\0';
	if (!strncmp(start, "usr/", 4))
		start += 4;
	return (size_t)snprintf(lib, size, "%s", start) < size ? 0 : -ENOENT;
#else
	(void)bits;
	(void)lib;
	(void)size;
	return -ENOENT;
#endif
}

/*
 * Whether @path is a library of class @bits. On Arch a 64-bit library is in /usr/lib, on Fedora a
 * 32-bit one.
 */
static inline int loader_lib_fits(const char *path, int bits)
{
	unsigned char ident[EI_CLASS + 1] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, ident, sizeof(ident));

	if (fd >= 0)
		close(fd);
	return length == (ssize_t)sizeof(ident) && !memcmp(ident, ELFMAG, SELFMAG) &&
	       ident[EI_CLASS] == (bits == 64 ? ELFCLASS64 : ELFCLASS32);
}

/*
 * @path with "/@from/xrc-compat/" in it changed to "/@to/xrc-compat/". 0, or -ENOENT when it has no
 * such part.
 */
static inline int loader_lib_replace(const char *path, const char *from, const char *to,
				     char *result, size_t size)
{
	char part[PATH_MAX];
	const char *at;

	if ((size_t)snprintf(part, sizeof(part), "/%s/xrc-compat/", from) >= sizeof(part))
		return -ENOENT;
	at = strstr(path, part);
	if (!at)
		return -ENOENT;
	return (size_t)snprintf(result, size, "%.*s/%s/xrc-compat/%s", (int)(at - path), path, to,
				at + strlen(part)) < size
		       ? 0
		       : -ENOENT;
}

/*
 * @path, a library of class @bits, with $LIB in it, for programs of both classes. -ENOENT if the
 * library of the other class is not where $LIB leads in its programs.
 */
static inline int loader_lib_setting(const char *path, int bits, char *setting, size_t size)
{
	char own[NAME_MAX], other[NAME_MAX], there[PATH_MAX];

	if (loader_lib(bits, own, sizeof(own)) || loader_lib(96 - bits, other, sizeof(other)) ||
	    loader_lib_replace(path, own, other, there, sizeof(there)) ||
	    !loader_lib_fits(there, 96 - bits))
		return -ENOENT;
	return loader_lib_replace(path, own, "$LIB", setting, size);
}

#endif
