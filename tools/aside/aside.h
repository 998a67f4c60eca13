/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Runs a program, or a function that may crash or hang, in a process of its own. */
#ifndef TOOLS_ASIDE_H
#define TOOLS_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

struct aside {
	char *const *words;	/* the program and its arguments; NULL: prepare() does the work */
	/* The process calls this first; a result other than 0 is its exit status. May be NULL. */
	int (*prepare)(const void *context);
	const void *context;
	bool with_errors;	/* the output includes standard error */
};

struct aside_result {
	int err;	/* -ETIMEDOUT, -EFBIG from 256 KiB on, or the -errno of a system call */
	int status;	/* of waitpid(2); exit status 126: not executable; 0 if @err is not 0 */
	size_t size;	/* bytes of output */
};

/*
 * Runs @aside without input for at most @milliseconds. Returns what the process writes on standard
 * output, to be freed; a 0 follows.
 */
char *aside_output(const struct aside *aside, int milliseconds, struct aside_result *result);

#endif
