/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Work that may crash or hang, such as calling a driver: done in a process of its own. */
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
 * aside_do - have the work done, waiting so long for its end. 0, what the work returned negated, -ETIMEDOUT, -EIO when
 * its process ended early. Records that came before are taken in any case.
 */
int aside_do(const struct aside *aside, int milliseconds);

/** aside_give - from the work: one record. */
bool aside_give(int out, const void *record, size_t size);

#endif
