/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The tables that this process has open, in memory that the kernel empties in a forked child.
 *
 * So a child starts with no tables and with an unlocked lock, whatever another thread of the parent was doing and however
 * it was forked; fork handlers would not run for every kind of clone.
 */
#ifndef COMPAT_REGTAB_REGISTRY_H
#define COMPAT_REGTAB_REGISTRY_H

#include <pthread.h>
#include <stdint.h>

struct regtab;

struct registry {
	pthread_mutex_t mutex;		/* all zero is an initialised mutex of glibc */
	uint32_t process;		/* 0: nothing opened since the fork */
	struct regtab *tables;
};

/** regtab_registry - locked, with its process number set. NULL: no memory. */
struct registry *regtab_registry_lock(void);
void regtab_registry_unlock(struct registry *registry);

/** regtab_process - number of this process, 0 when it has opened nothing. */
uint32_t regtab_process(void);

#endif
