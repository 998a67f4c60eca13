/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The loader's index of libraries, /etc/ld.so.cache. */
#ifndef XRC_COMPAT_TOOLS_LIBRARY_CACHE_H
#define XRC_COMPAT_TOOLS_LIBRARY_CACHE_H

#include "elf_info.h"

#include <stdbool.h>

/* Looks @name up in the cache file at @cache for files of @kind's class and machine. @path has PATH_MAX bytes. */
bool library_cache_find(const char *cache, const char *name, const struct elf_info *kind, char *path);

/*
 * Whether the loader takes @path for a program of @kind. It passes over what may not be read, and ELF files of another class or
 * machine. At whatever else has the name it gives up (an empty file, text, a directory), or waits for ever (a FIFO).
 */
bool library_is_taken(const char *path, const struct elf_info *kind);

#endif
