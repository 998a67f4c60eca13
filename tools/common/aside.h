/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Work that may crash or hang, such as calling a driver, and other programs: done in a process of
 * its own.
 */
#ifndef XRC_COMPAT_TOOLS_ASIDE_H
#define XRC_COMPAT_TOOLS_ASIDE_H

#include <stdbool.h>
#include <stddef.h>

struct aside {
	/* In the process of its own; aside_give() hands records over. 0 or a positive errno. */
	int (*work)(void *context, int out);
	/* Here, for each record, until it returns false. */
	bool (*take)(void *context, const void *record);
	void *context;
	size_t record_size;	/* at most PIPE_BUF, so that a record arrives whole */
};

/**
 * aside_do - have the work done, waiting so long for its end. 0, what the work returned negated,
 * -ETIMEDOUT, -EIO when its process ended early. Records that came before are taken in any case.
 */
int aside_do(const struct aside *aside, int milliseconds);

/* A program of which the output is wanted. */
struct aside_program {
	char *const *words;			/* as for execvp(3) */
	void (*prepare)(const void *context);	/* called in its process first; NULL: nothing */
	const void *context;
	bool with_errors;			/* what it writes on standard error, too */
};

/**
 * aside_output - run it without input, waiting so long for its end. *result is as of aside_do().
 * Returns the beginning of what it writes, 256 KiB at most, to be freed.
 */
char *aside_output(const struct aside_program *program, int milliseconds, int *result);

/** aside_give - from the work: one record. */
bool aside_give(int out, const void *record, size_t size);

#endif
