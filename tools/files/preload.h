/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The value of LD_PRELOAD, which lists libraries. */
#ifndef TOOLS_PRELOAD_H
#define TOOLS_PRELOAD_H

#include <stdbool.h>

struct string_list;

/* The word size of this command. */
#define OWN_BITS ((int)sizeof(void *) * 8)

/*
 * The loader's value of $LIB in programs of @bits, as "lib/i386-linux-gnu" or "lib64": the
 * directory of the loader itself. NULL without such a loader, and on CPUs with one word size.
 */
const char *preload_lib_dir(int bits);

/* @word with the directory that the loader puts for $LIB in programs of OWN_BITS. */
const char *preload_expand(const char *word);

/* Takes the next word from *rest, NULL at the end. At first *rest is the value, or NULL. */
char *preload_next(const char **rest);

/* False for a path that the loader would split or expand, or that breaks the line of a shell. */
bool preload_can_hold(const char *path);

/* @path of our library with $LIB in it. NULL unless that serves both word sizes. */
const char *preload_for_both(const char *path);

/*
 * A value of LD_PRELOAD: these libraries, then those that LD_PRELOAD has already, each once. Paths
 * have $LIB where possible, but not if @expands: the launcher or a shell expands it as a variable.
 */
char *preload_value(const struct string_list *libraries, bool expands);

#endif
