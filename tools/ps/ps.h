/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the files of `xrc-compat ps` have from each other. */
#ifndef TOOLS_PS_H
#define TOOLS_PS_H

#include <table/view.h>

/*
 * Says on standard error why a table or a process is not read. Of the processes only the first is
 * named: seen from another user namespace these are all processes of the user.
 */
void say_reason(const struct regtab_view_member *member);
void say_more_unread(void);

/* Says why regtab_list() has failed. TOOL_EXIT_REFUSED. */
int refuse_to_list(int err);

/*
 * Prints the stacks of the processes @pids, up to NULL; without any, of all that have a domain
 * open. Returns the exit status.
 */
int print_stacks(char **pids);

/* Prints the stacks in a core file. Returns the exit status. */
int print_core(const char *file);

#endif
