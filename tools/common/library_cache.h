/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The loader's index of libraries, /etc/ld.so.cache. */
#ifndef XRC_COMPAT_TOOLS_LIBRARY_CACHE_H
#define XRC_COMPAT_TOOLS_LIBRARY_CACHE_H

#include "elf_info.h"

#include <stdbool.h>

/* Looks @name up in the cache file at @cache for files of @kind's class and machine. @path has PATH_MAX bytes. */
bool library_cache_find(const char *cache, const char *name, const struct elf_info *kind, char *path);

/* True if @path is an ELF file of @kind's class and machine; the loader passes over others as if they were not there. */
bool library_is_of_kind(const char *path, const struct elf_info *kind);

#endif
