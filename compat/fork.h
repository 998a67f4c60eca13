/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A forked child has only the thread that forked: it must not wait for any other. */
#ifndef COMPAT_FORK_H
#define COMPAT_FORK_H

/** fork_watch - from now on children of this process begin with locks, counts and phases of their own. Idempotent. */
void fork_watch(void);

#endif
