/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Reads /etc/ld.so.cache in the format that glibc 2.2 introduced and that is the only one written since 2.32. */
#include "library_cache.h"
#include "regular.h"

#include <elf.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CACHE_MAGIC "glibc-ld.so.cache1.1"

struct cache_header {
	char magic[sizeof(CACHE_MAGIC) - 1];
	uint32_t count;
	uint32_t strings_size;
	uint32_t unused[5];
};

/* Offsets are from the beginning of the header. */
struct cache_entry {
	int32_t flags;
	uint32_t name;
	uint32_t path;
	uint32_t os_version;
	uint64_t hardware; /* not 0: a variant for certain processors, which has a plain sibling */
};

struct cache {
	const char *base;
	size_t size;
};

bool library_is_taken(const char *path, const struct elf_info *kind)
{
	size_t header_size = kind->bits == 32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr);
	unsigned char header[sizeof(Elf64_Ehdr)];
	ssize_t size;
	int fd;

	if (access(path, R_OK))
		return false;
	fd = regular_open(path);
	if (fd < 0)
		return true;
	size = read(fd, header, header_size);
	close(fd);
	if (size != (ssize_t)header_size || memcmp(header, ELFMAG, SELFMAG))
		return true;
	if (header[EI_CLASS] != (kind->bits == 32 ? ELFCLASS32 : ELFCLASS64))
		return false;
	if (header[EI_DATA] == ELFDATA2MSB)
		return kind->machine == (unsigned int)(header[18] << 8 | header[19]);
	return kind->machine == (unsigned int)(header[19] << 8 | header[18]);
}

/* The string at @offset, or "" when it does not end inside the file. */
static const char *string_at(const struct cache *cache, uint32_t offset)
{
	if (offset >= cache->size || !memchr(cache->base + offset, '\0', cache->size - offset))
		return "";
	return cache->base + offset;
}

static bool search(const struct cache *cache, const char *name, const struct elf_info *kind, char *path)
{
	struct cache_header header;

	if (cache->size < sizeof(header))
		return false;
	memcpy(&header, cache->base, sizeof(header));
	if (memcmp(header.magic, CACHE_MAGIC, sizeof(header.magic)))
		return false;
	for (uint32_t i = 0; i < header.count; i++) {
		size_t offset = sizeof(header) + i * sizeof(struct cache_entry);
		struct cache_entry entry;

		if (offset + sizeof(entry) > cache->size)
			return false;
		memcpy(&entry, cache->base + offset, sizeof(entry));
		if (entry.hardware || strcmp(string_at(cache, entry.name), name))
			continue;
		if (!library_is_taken(string_at(cache, entry.path), kind))
			continue;
		return snprintf(path, PATH_MAX, "%s", string_at(cache, entry.path)) < PATH_MAX;
	}
	return false;
}

bool library_cache_find(const char *file, const char *name, const struct elf_info *kind, char *path)
{
	struct cache cache = { 0 };
	bool found;

	cache.base = regular_map(file, &cache.size);
	if (!cache.base)
		return false;
	found = search(&cache, name, kind, path);
	munmap((void *)cache.base, cache.size);
	return found;
}
