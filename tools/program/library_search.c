/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The search order of ld.so(8): RPATH, LD_LIBRARY_PATH, RUNPATH, ld.so.cache, the default directories. */
#include "library_search.h"
#include "library_cache.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CACHE_FILE "/etc/ld.so.cache"

/* Directories that the loader knows without being told; those of Debian's multiarch are tried first. */
static const char *multiarch(const struct elf_info *kind)
{
	switch (kind->machine) {
	case EM_X86_64:
		return "x86_64-linux-gnu";
	case EM_386:
		return "i386-linux-gnu";
	case EM_AARCH64:
		return "aarch64-linux-gnu";
	default:
		return "none";
	}
}

/* What ld.so puts for $LIB depends on the distribution. The directory that exists is taken. */
static void lib_token(const struct elf_info *kind, char *text, size_t size)
{
	char directory[64];

	snprintf(directory, sizeof(directory), "/lib/%s", multiarch(kind));
	if (!access(directory, F_OK))
		snprintf(text, size, "lib/%s", multiarch(kind));
	else
		snprintf(text, size, "%s", kind->bits == 64 ? "lib64" : "lib");
}

/* The directory of @object as $ORIGIN means it: links in the directory are resolved. */
static void origin_token(const struct loaded_object *object, char *text)
{
	char *slash;

	if (!realpath(object->path, text))
		snprintf(text, PATH_MAX, "%s", object->path);
	slash = strrchr(text, '/');
	if (slash)
		*slash = '\0';
}

/* Length of token @name at @text, in either form, $NAME or ${NAME}; 0 if it is not there. */
static size_t token_length(const char *text, const char *name)
{
	size_t length = strlen(name);

	if (!strncmp(text, "${", 2) && !strncmp(text + 2, name, length) && text[2 + length] == '}')
		return length + 3;
	if (text[0] == '$' && !strncmp(text + 1, name, length))
		return length + 1;
	return 0;
}

/* Copies @length bytes of @source with $ORIGIN and $LIB replaced. False if the result does not fit. */
static bool expand(const char *source, size_t length, const struct loaded_object *object, char *text)
{
	const char *end = source + length;
	char value[PATH_MAX];
	size_t used = 0;

	while (source < end) {
		size_t token;
		size_t size;

		if ((token = token_length(source, "ORIGIN")))
			origin_token(object, value);
		else if ((token = token_length(source, "LIB")))
			lib_token(&object->elf, value, sizeof(value));
		else
			snprintf(value, sizeof(value), "%c", *source);
		size = strlen(value);
		if (used + size >= PATH_MAX)
			return false;
		memcpy(text + used, value, size);
		used += size;
		source += token ? token : 1;
	}
	text[used] = '\0';
	return true;
}

static bool in_directory(const char *directory, const char *name, const struct elf_info *kind, char *path)
{
	if (snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX)
		return false;
	return library_is_taken(path, kind);
}

/* Walks a list of directories as they stand in RPATH or LD_LIBRARY_PATH, for the object that the list belongs to. */
static bool in_list(const char *list, const char *separators, const struct loaded_object *owner, const char *name,
		    const struct elf_info *kind, char *path)
{
	char directory[PATH_MAX];

	while (list) {
		size_t length = strcspn(list, separators);
		bool usable = expand(list, length, owner, directory);

		if (!length)
			strcpy(directory, "."); /* an empty element is the current directory */
		if (usable && in_directory(directory, name, kind, path))
			return true;
		list = list[length] ? list + length + 1 : NULL;
	}
	return false;
}

/* RPATH of the objects that brought the requester in counts as well, unless the requester has a RUNPATH. */
static bool in_rpaths(const struct loaded_object *requester, const char *name, const struct elf_info *kind, char *path)
{
	if (requester->elf.runpath)
		return false;
	for (const struct loaded_object *object = requester; object; object = object->requester) {
		if (object->elf.rpath && !object->elf.runpath && in_list(object->elf.rpath, ":", object, name, kind, path))
			return true;
	}
	return false;
}

enum library_origin library_find_system(const char *name, const struct elf_info *kind, char *path)
{
	static const char *const roots[] = { "/lib/", "/usr/lib/" };
	static const char *const plain[] = { "/lib64", "/usr/lib64", "/lib", "/usr/lib" };
	char directory[PATH_MAX];

	if (library_cache_find(CACHE_FILE, name, kind, path))
		return ORIGIN_CACHE;
	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++) {
		snprintf(directory, sizeof(directory), "%s%s", roots[i], multiarch(kind));
		if (in_directory(directory, name, kind, path))
			return ORIGIN_DEFAULT;
	}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (in_directory(plain[i], name, kind, path))
			return ORIGIN_DEFAULT;
	}
	return ORIGIN_NOT_FOUND;
}

enum library_origin library_find(const char *name, const struct loaded_object *requester, char *path)
{
	const struct elf_info *kind = &requester->elf;
	const char *environment = getenv("LD_LIBRARY_PATH");

	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		return library_is_taken(path, kind) ? ORIGIN_PATH : ORIGIN_NOT_FOUND;
	}
	if (in_rpaths(requester, name, kind, path))
		return ORIGIN_RPATH;
	if (environment && environment[0] && in_list(environment, ":;", requester, name, kind, path))
		return ORIGIN_LD_LIBRARY_PATH;
	if (requester->elf.runpath && in_list(requester->elf.runpath, ":", requester, name, kind, path))
		return ORIGIN_RUNPATH;
	return library_find_system(name, kind, path);
}

const char *library_origin_name(enum library_origin origin)
{
	static const char *const names[] = {
		[ORIGIN_NOT_FOUND] = "not found",
		[ORIGIN_PATH] = "path",
		[ORIGIN_RPATH] = "RPATH",
		[ORIGIN_LD_LIBRARY_PATH] = "LD_LIBRARY_PATH",
		[ORIGIN_RUNPATH] = "RUNPATH",
		[ORIGIN_CACHE] = "ld.so.conf",
		[ORIGIN_DEFAULT] = "system directory",
		[ORIGIN_PLUGIN] = "plugin directory",
	};

	return names[origin];
}
