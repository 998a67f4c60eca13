/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one lock of the library. It guards maps and counts. No thread holds it while it calls
 * rdma-core, because ibv_destroy_* may wait until another thread acknowledges an event. A thread
 * that needs an object during such a call first counts itself as a user of the object. A thread
 * that ends the object waits in state_wait() until it has no user.
 *
 * Any thread may call any verb: old MPIs create on a connection thread, unregister on the main
 * thread, and cancel the event thread at any instruction (MVAPICH2).
 */
#ifndef BASE_STATE_H
#define BASE_STATE_H

/*
 * Marks a variable that is zero again in a forked child. So a child has no object of its parent.
 * It waits for no lock that another thread of the parent held during the fork. The memory of the
 * parent's objects stays allocated in the child.
 */
#define PER_PROCESS __attribute__((section("per_process")))

/* Makes the lock, once in each process and child. state_lock() calls it. */
void state_begin(void);

void state_lock(void);
void state_unlock(void);

/* Drops the lock until an object changes. The caller then tests its condition. */
void state_wait(void);

/* Wakes every thread in state_wait(). */
void state_changed(void);

#endif
