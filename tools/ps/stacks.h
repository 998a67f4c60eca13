/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The stacks that `xrc-compat ps` prints. Both return the exit status. */
#ifndef XRC_COMPAT_TOOLS_STACKS_H
#define XRC_COMPAT_TOOLS_STACKS_H

struct string_list;

/* Of these processes; of none given, all that have a domain open. */
int print_stacks(struct string_list *pids);

int print_core(const char *file);

#endif
