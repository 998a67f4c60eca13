/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What `xrc-compat ps` prints: registrations, stacks, and why some of them are missing. */
#ifndef TOOLS_PS_H
#define TOOLS_PS_H

#include <table/view.h>

#include <stdbool.h>

/* ---- columns ---- */

struct column {
	const char *name;
	const char *help;
	int width;	/* characters of most values; 0: any number, so the column stands last */
	bool usual;	/* it is printed as text without -o; these fit on a line */
};

/* One without a name ends the table. */
extern const struct column columns[];

struct cell {
	char text[576];		/* for people; "" if the column does not apply */
	bool is_number;		/* JSON has the number in place of the text */
	long long number;
};

/* @column is one of columns[]. @qp: the member is registered with it; NULL: with none. */
struct cell column_cell(const struct column *column, const struct regtab_view_member *member,
			const struct regtab_view_qp *qp);

/* The column of this name, in upper or lower case; NULL: there is none. */
const struct column *column_named(const char *name);

/* For --help. */
void explain_columns(void);

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

/* Prints the stacks of @pids, up to NULL; without any, of all with a domain. The exit status. */
int print_stacks(char **pids);

/* Prints the stacks in a core file. Returns the exit status. */
int print_core(const char *file);

/* ---- what is missing, on standard error ---- */

/*
 * Says why each refused table, or only that of @pid, is not read. Of the processes that cannot be
 * read only the first is named: seen from another user namespace these are all processes of the
 * user. Whether there was a reason.
 */
bool say_reasons(const struct regtab_view *all, pid_t pid);

/* Says why regtab_read() has failed. TOOL_EXIT_REFUSED. */
int refuse_to_list(int err);

#endif
