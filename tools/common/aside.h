/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Other programs, and work that may crash or hang, such as calling a driver: done in a process of
 * its own.
 */
#ifndef XRC_COMPAT_TOOLS_ASIDE_H
#define XRC_COMPAT_TOOLS_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

struct aside {
	char *const *words;	/* of a program, as for execvp(3); NULL: prepare() does the work */
	/* called in its process first; NULL: nothing. What is not 0 is its exit status */
	int (*prepare)(const void *context);
	const void *context;
	bool with_errors;	/* what it writes on standard error, too */
};

/**
 * aside_output - run it without input, waiting so long for its end. Returns the beginning of what
 * it writes on standard output, 256 KiB at most, to be freed. @size gets its length; NULL: the text
 * ends with 0. *result: 0, its exit status negated, -ETIMEDOUT, or -EIO when it ended by a signal.
 */
char *aside_output(const struct aside *aside, int milliseconds, size_t *size, int *result);

#endif
