/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Launchers of parallel programs, and how each gives its processes a variable. */
#ifndef XRC_COMPAT_TOOLS_LAUNCHERS_H
#define XRC_COMPAT_TOOLS_LAUNCHERS_H

#include <stdbool.h>
#include <stddef.h>

struct launcher {
	const char *title;
	const char *names;	/* of its commands, each between blanks */
	const char *command;	/* as a user begins to type it */
	const char *before, *between;	/* "before" NAME "between" VALUE, for each variable */
	const char *word;	/* before the variables; NULL: they follow the launcher's name */
	bool remote;		/* a remote shell expands the values again: $LIB would be lost */
	bool quoted_twice;	/* so values need quotes for that shell, too */
};

extern const struct launcher launchers[];
extern const size_t launcher_count;

/* Whether a command of this name, or path, may be this launcher's. */
bool launcher_has_name(const struct launcher *launcher, const char *path);

/* Whether it may be the name of any launcher. */
bool is_launcher(const char *path);

#endif
