/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one lock of the library. It guards maps and counts only and is never held across a verb:
 * ibv_destroy_* may wait for another thread to acknowledge an event. A thread that needs an object
 * during a verb first counts itself as a user. A thread that ends the object waits until there is
 * no user (state_wait). Any thread may call any verb: old MPIs create on a connection thread,
 * unregister on the main thread, and cancel the event thread at any instruction (MVAPICH2).
 */
#ifndef COMPAT_STATE_H
#define COMPAT_STATE_H

#include <stdatomic.h>
#include <stdbool.h>

void state_lock(void);
void state_unlock(void);

/** state_wait - drop the lock until some object changes; then test the condition again. */
void state_wait(void);

/** state_changed - wake every thread in state_wait(). */
void state_changed(void);

/**
 * state_in_use - whether the program has ever tried to open a domain. Before that, verbs are passed
 * on.
 */
extern atomic_bool state_used;

static inline bool state_in_use(void)
{
	return atomic_load_explicit(&state_used, memory_order_acquire);
}

/**
 * state_forking, state_forked_* - for pthread_atfork(3). clean_up is called when the child takes
 * the lock first: until then a program's allocator may be locked.
 */
void state_forking(void);
void state_forked_parent(void);
void state_forked_child(void (*clean_up)(void));

#endif
