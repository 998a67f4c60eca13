/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Launchers of parallel programs, and how each gives its processes a variable. */
#ifndef TOOLS_LAUNCHERS_H
#define TOOLS_LAUNCHERS_H

#include <stdbool.h>

struct launcher {
	const char *title;
	const char *names;	/* its commands, each between blanks */
	bool is_mpi;		/* it starts the processes of an MPI program */
	bool no_mvapich2;	/* it starts no programs of MVAPICH2 */
	const char *command;	/* what a user types first */
	const char *before, *between;	/* "before" NAME "between" VALUE, for each variable */
	const char *word;	/* before the variables; NULL: they follow the launcher's name */
	bool expands;		/* it expands variables in values, so none may contain $LIB */
	bool remote;		/* a remote shell expands them */
	bool quoted_twice;	/* values need quotes for the remote shell, too */
	bool each_part;		/* a variable is for the programs up to the next ':' only */
	const char *appfile;	/* options with a file that names the programs, between blanks */
	const char *version;	/* a pattern of fnmatch(3) for what it prints with --version */
};

/* A row without a title ends the table. */
extern const struct launcher launchers[];

/* The first launcher with a command of this name, or path; NULL: there is none. */
const struct launcher *find_launcher(const char *path);

/*
 * The launchers with a command of this name, or path, up to NULL. If there are several, and the
 * output of `@path --version` is of one of them, that one alone.
 */
const struct launcher *const *ask_launchers(const char *path);

#endif
