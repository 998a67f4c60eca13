/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* LD_PRELOAD: its words, and the value that puts libraries in front of them. */
#ifndef XRC_COMPAT_TOOLS_PRELOAD_H
#define XRC_COMPAT_TOOLS_PRELOAD_H

#include "memory.h"

/*
 * Takes the next word from *rest, with the folder that the loader puts for $LIB if @expand. False
 * when there is none. At first *rest is the value, which may be NULL.
 */
bool preload_next(const char **rest, bool expand, char *word, size_t size);

/*
 * Writes @path, a library of ours, with $LIB for its folder. False if that does not serve the
 * programs of both word sizes.
 */
bool preload_for_both(const char *path, char *setting, size_t size);

/*
 * These libraries, then what LD_PRELOAD has already, each once. Where possible with $LIB, unless it
 * is for a @remote shell, which would replace that.
 */
char *preload_value(const struct string_list *libraries, bool remote);

#endif
