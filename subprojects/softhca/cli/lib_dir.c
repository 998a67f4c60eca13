/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The loader's value of $LIB, which is the directory of the loader itself. */
#include "lib_dir.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
int lib_dir(int bits, char *directory, size_t size)
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
int lib_dir(int bits, char *directory, size_t size)
{
	(void)bits;
	(void)directory;
	(void)size;
	return -ENOENT;
}
#endif

/*
 * The name of the directory does not tell the word size: /usr/lib has 64-bit libraries on Arch,
 * 32-bit ones on Fedora.
 */
bool lib_dir_fits(const char *path, int bits)
{
	unsigned char ident[EI_CLASS + 1] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t length = fd < 0 ? -1 : read(fd, ident, sizeof(ident));

	if (fd >= 0)
		close(fd);
	return length == (ssize_t)sizeof(ident) && !memcmp(ident, ELFMAG, SELFMAG) &&
	       ident[EI_CLASS] == (bits == 64 ? ELFCLASS64 : ELFCLASS32);
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

int lib_dir_setting(const char *path, char *setting, size_t size)
{
	char own[NAME_MAX], other[NAME_MAX], there[PATH_MAX];

	if (lib_dir(OWN_BITS, own, sizeof(own)) || lib_dir(OTHER_BITS, other, sizeof(other)) ||
	    replace_dir(path, own, other, there, sizeof(there)) ||
	    !lib_dir_fits(there, OTHER_BITS))
		return -ENOENT;
	return replace_dir(path, own, "$LIB", setting, size);
}
