/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The stacks that `xrc-compat ps` prints. Both functions return the exit status. */
#ifndef TOOLS_STACKS_H
#define TOOLS_STACKS_H

/* Prints those of the processes @pids, up to NULL; without any, of all that have a domain open. */
int print_stacks(char **pids);

int print_core(const char *file);

#endif
