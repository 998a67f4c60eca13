/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one lock of the library, and the opened devices that use XRC.
 *
 * The lock guards maps and counts only. It is never held across a verb: ibv_destroy_* may wait for another thread to
 * acknowledge an event. Who needs an object during a verb counts itself in first, and who wants to end the object
 * waits for that count (state_wait). Old MPIs create on a connection thread, unregister on the main one and cancel
 * the event thread at any instruction (MVAPICH2), so nothing here relies on one thread.
 */
#ifndef COMPAT_STATE_H
#define COMPAT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>
#include <infiniband/verbs.h>

#include <compat/base/handle.h>

#include "table.h"

struct domain;

/**
 * struct core - one XRC domain as the kernel sees it, in one opened device.
 *
 * The old kernel compared domains by this object, not by handle: an SRQ made through one handle keeps every handle of
 * the same inode busy (contract 5.2).
 */
struct core {
	struct ibv_context *context;
	bool shared;		/* has an inode; false: private, fd was -1 */
	bool inherited;		/* from the parent of this process, which has the device open, too */
	dev_t dev;
	ino_t ino;
	unsigned handles;	/* struct domain that refer to this */
	unsigned srqs;		/* XRC SRQs of this opened device */
	unsigned qps;		/* XRC QPs of this opened device */
	struct handle_map rcv_qps;	/* struct rcv_qp by number: registrations of this opened device */
	struct regtab_entry *table;	/* its part of the registration table; NULL: private, or no memory */
	LIST_ENTRY(core) link;
};

void state_lock(void);
void state_unlock(void);

/** state_forking, state_forked - before and after a fork (fork.h). take: with the lock; taken: it was. */
void state_forking(bool take);
void state_forked(bool child, bool taken);

/**
 * state_in_use - whether the program has ever opened a domain. Before that there is nothing that a verb could mean, so it passes
 * straight through.
 */
extern atomic_bool state_used;

static inline bool state_in_use(void)
{
	return atomic_load_explicit(&state_used, memory_order_acquire);
}

/** state_wait - wait, lock dropped meanwhile, until some object changed; the caller tests its condition again. */
void state_wait(void);

/** state_changed - wake everyone in state_wait(). */
void state_changed(void);

/**
 * core_get - the core of an inode, or a new one if it is private or not known yet. Lock held. NULL: no memory.
 * Each call counts one handle.
 */
struct core *core_get(struct ibv_context *context, bool shared, dev_t dev, ino_t ino);

/** core_hide - no core_get() finds it any more: it is about to end. core_show() takes that back. Lock held. */
void core_hide(struct core *core);
void core_show(struct core *core);

/** core_each - visit every core that is not hidden. Lock held. */
void core_each(void (*visit)(struct core *core, void *arg), void *arg);

/** core_free - a hidden core; its part of the table ends. No lock held. */
void core_free(struct core *core);

#endif
