/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The daemon's directory: made, locked, taken over from a dead one, removed. */
#ifndef SOFTHCA_HOME_H
#define SOFTHCA_HOME_H

#include <softhca/dir.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * A new private directory for one run. 0 with its path and the descriptor of its lock, or -errno
 * with a sentence in @why. What killed runs of this user have left behind in the same place is
 * removed.
 */
int home_create(char path[DIR_MAX + 1], int *lock, char *why, size_t size);

/*
 * The directory @path for a daemon of its own, made if need be. -EBUSY when a living daemon has it.
 */
int home_claim(const char *path, int *lock, char *why, size_t size);

/* No living daemon has the directory. */
bool home_is_free(const char *path);

/*
 * Whether the daemon at the other end of a connection is stopped (SIGSTOP), for all that is known
 * of it.
 */
bool home_daemon_is_stopped(int sock);

/*
 * Removes what a daemon makes in its directory, and the directory itself if nothing else is in it.
 */
void home_remove(const char *path);

#endif
