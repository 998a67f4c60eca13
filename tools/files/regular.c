/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Opens and searches regular files. */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_open(const char *path)
{
	/* O_PATH: opening a device may act on it, and opening a FIFO wakes its writer. */
	int place = open(path, O_PATH | O_CLOEXEC), fd = -EACCES;
	struct stat st;
	char name[32];

	if (place < 0)
		return -errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", place);
	if (!fstat(place, &st) && S_ISREG(st.st_mode)) {
		fd = open(name, O_RDONLY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	close(place);
	return fd;
}

ssize_t regular_read(const char *path, char *text, size_t size)
{
	int fd = regular_open(path);
	ssize_t used = fd < 0 ? -1 : read(fd, text, size - 1);

	text[used > 0 ? used : 0] = '\0';
	if (fd >= 0)
		close(fd);
	return used;
}

char *regular_line(const char *path, int end, const char *name)
{
	int fd = regular_open(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL, *rest = NULL;
	size_t size = 0;

	while (file && !rest && getdelim(&line, &size, end, file) > 0)
		rest = strncmp(line, name, strlen(name)) ? NULL : strdup(line + strlen(name));
	free(line);
	if (file)
		fclose(file);
	return rest;
}

unsigned long long regular_number(const char *path, const char *name, int base)
{
	char *rest = regular_line(path, '\n', name);
	unsigned long long number = rest ? strtoull(rest, NULL, base) : 0;

	free(rest);
	return number;
}

/* Maps the file. NULL if it cannot be read or is empty. */
static char *map_file(const char *path, size_t *size)
{
	int fd = regular_open(path);
	void *map = MAP_FAILED;
	struct stat st = { 0 };

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size > 0)
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	*size = (size_t)st.st_size;
	return map == MAP_FAILED ? NULL : map;
}

bool regular_has_bytes(const char *path, size_t most, const void *bytes, size_t size)
{
	size_t all;
	char *map = map_file(path, &all);
	bool found;

	if (!map)
		return false;
	found = memmem(map, most < all ? most : all, bytes, size) != NULL;
	munmap(map, all);
	return found;
}

char *regular_string(const char *path, const char *part)
{
	size_t all;
	char *map = map_file(path, &all), *begin, *string = NULL;

	if (!map)
		return NULL;
	begin = memmem(map, all, part, strlen(part));
	while (begin && begin > map && begin[-1])
		begin--;
	if (begin)
		string = strndup(begin, all - (size_t)(begin - map));
	munmap(map, all);
	return string;
}

bool regular_has(const char *path, const char *text)
{
	return regular_has_bytes(path, SIZE_MAX, text, strlen(text));
}
