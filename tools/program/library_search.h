/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which file the dynamic loader would take for a needed library, and why that one; nothing is loaded or run to find out. */
#ifndef XRC_COMPAT_TOOLS_LIBRARY_SEARCH_H
#define XRC_COMPAT_TOOLS_LIBRARY_SEARCH_H

#include "elf_info.h"

#include <limits.h>

enum library_origin {
	ORIGIN_NOT_FOUND,
	ORIGIN_PATH,		/* the name itself contains a slash */
	ORIGIN_RPATH,		/* compiled in, before LD_LIBRARY_PATH */
	ORIGIN_LD_LIBRARY_PATH, /* the environment */
	ORIGIN_RUNPATH,		/* compiled in, after LD_LIBRARY_PATH */
	ORIGIN_CACHE,		/* ld.so.conf, by way of ld.so.cache */
	ORIGIN_DEFAULT,		/* the loader's own directories */
	ORIGIN_PLUGIN,		/* a plugin directory of a known program */
};

/* An object on its way into the process. */
struct loaded_object {
	char *path;
	char *wanted; /* the name in DT_NEEDED */
	enum library_origin origin;
	const struct loaded_object *requester; /* NULL for the program */
	struct elf_info elf;
};

/* Finds @name for @requester. @path has PATH_MAX bytes and is written unless the result is ORIGIN_NOT_FOUND. */
enum library_origin library_find(const char *name, const struct loaded_object *requester, char *path);

/* The same, but only where the system keeps libraries: ld.so.cache and the loader's own directories. */
enum library_origin library_find_system(const char *name, const struct elf_info *kind, char *path);

/* "RPATH", "LD_LIBRARY_PATH", ...: for people and for JSON. */
const char *library_origin_name(enum library_origin origin);

#endif
