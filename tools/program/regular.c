/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opens and maps regular files. */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EACCES;
}

const void *regular_map(const char *path, size_t *size)
{
	int fd = regular_open(path);
	void *map = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size > 0) {
		*size = (size_t)st.st_size;
		map = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}
