/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Other programs, and work that may crash or hang, as calling a driver. */
#ifndef XRC_COMPAT_TOOLS_ASIDE_H
#define XRC_COMPAT_TOOLS_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

struct aside {
	char *const *words;	/* of a program; NULL: prepare() does the work */
	/* called first in that process, which exits with its result if that is not 0; or NULL */
	int (*prepare)(const void *context);
	const void *context;
	bool with_errors;	/* what it writes on standard error, too */
};

struct aside_result {
	int err;	/* -ETIMEDOUT, -EFBIG above 256 KiB, or the -errno of a system call */
	int status;	/* as of waitpid(2); 0 if @err is not 0 */
};

/**
 * aside_output - runs it without input, at most for so long. Returns what it writes on standard
 * output, to be freed. @size gets its length; NULL: the text ends with 0.
 */
char *aside_output(const struct aside *aside, int milliseconds, size_t *size,
		   struct aside_result *result);

#endif
