/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Runs a program, or a function that may crash or hang, in a process of its own. */
#ifndef XRC_COMPAT_TOOLS_ASIDE_H
#define XRC_COMPAT_TOOLS_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

struct aside {
	char *const *words;	/* of a program; NULL: prepare() does the work */
	/* called first in that process, which exits with its result if that is not 0; or NULL */
	int (*prepare)(const void *context);
	const void *context;
	bool with_errors;	/* the output includes standard error */
};

struct aside_result {
	int err;	/* -ETIMEDOUT, -EFBIG above 256 KiB, or the -errno of a system call */
	int status;	/* as of waitpid(2); 0 if @err is not 0 */
	size_t size;	/* of the output */
};

/*
 * Runs @aside without input for at most @milliseconds. Returns what the process writes on standard
 * output, to be freed; a 0 follows.
 */
char *aside_output(const struct aside *aside, int milliseconds, struct aside_result *result);

#endif
