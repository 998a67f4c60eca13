/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What `xrc-compat ps` prints: registrations, stacks, and why some of them are missing. */
#ifndef TOOLS_PS_H
#define TOOLS_PS_H

#include <table/view.h>

/* ---- registrations ---- */

/* What the command line asks for. */
struct listing {
	const struct column **columns;
	size_t column_count;
	bool is_json;
	bool without_headings;
};

/* Prints the registrations of all processes. Returns the exit status; 1: a table is refused. */
int print_registrations(const struct listing *listing);

/* ---- stacks ---- */

/*
 * Prints the stacks of the processes @pids, up to NULL; without any, of all that have a domain
 * open. Returns the exit status.
 */
int print_stacks(char **pids);

/* Prints the stacks in a core file. Returns the exit status. */
int print_core(const char *file);

/* ---- what is missing, on standard error ---- */

/*
 * Says why each refused table is not read. Of the processes that cannot be read only the first is
 * named: seen from another user namespace these are all processes of the user.
 */
void say_reasons(const struct regtab_view *all);

/* Says of each process how many registrations its table has no place for. */
void say_missing(const struct regtab_view *all);

/* Says why regtab_read() has failed. TOOL_EXIT_REFUSED. */
int refuse_to_list(int err);

#endif
