/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The words of LD_PRELOAD. */
#ifndef XRC_COMPAT_TOOLS_PRELOAD_H
#define XRC_COMPAT_TOOLS_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Takes the next word from *rest, with the folder that the loader puts for $LIB if @expand. False when there is none.
 * At first *rest is the value, which may be NULL.
 */
bool preload_next(const char **rest, bool expand, char *word, size_t size);

#endif
