/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Providers have locks of their own while they make or end an object. Nothing would release them in a forked child, so a fork waits
 * for the threads that are between these two. They do not nest.
 */
#ifndef MODERN_FORK_H
#define MODERN_FORK_H

void fork_hold_off(void);
void fork_let_go(void);

#endif
