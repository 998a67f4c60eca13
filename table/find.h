/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Finds the tables of processes in /proc, and reads those that their process itself has written. */
#ifndef TABLE_FIND_H
#define TABLE_FIND_H

#include "layout.h"

#include <stdbool.h>
#include <sys/types.h>

struct regtab_process {
	pid_t pid;		/* in the caller's pid namespace */
	uint32_t inner_pid;	/* in its own */
	uid_t uid;		/* effective */
	char command[17];
	char path[64];		/* of the table, or of the directory that cannot be read */
	const char *reason;	/* NULL; or why it is not read */
	bool unread;		/* the kernel does not show whether it has a table */
};

/*
 * Calls back with each process that has a table: with its table, or with NULL and a reason. Also
 * with NULL for each process of the caller's user whose descriptors the kernel does not show. A
 * result other than 0 ends the walk and is returned. -errno: /proc cannot be read.
 */
int regtab_each(int (*visit)(void *context, const struct regtab_process *process,
			     const struct regtab_file *file),
		void *context);

#endif
