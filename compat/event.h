/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Async events: a receive QP's have a flag and its number, an XRC SRQ's its image (contract 5.8).
 */
#ifndef COMPAT_EVENT_H
#define COMPAT_EVENT_H

#include <abi/legacy.h>

/**
 * event_get - the next event of the device, as old programs know it.
 * -EAGAIN: there is none, and async_fd is non-blocking. Other errors are those of read(2). While
 * the thread blocks it holds no lock: it may be cancelled, and a signal handler may leave by
 * siglongjmp(3).
 *
 * The event of a receive QP counts as acknowledged when it is handed out. The old kernel did not
 * count such events, so programs need not acknowledge them, and unregister must not wait for that.
 */
int event_get(struct ibv_context *context, struct legacy_async_event *event);

/** event_ack - does not change the event. */
void event_ack(const struct legacy_async_event *event);

/**
 * event_ack_own - acknowledge the event that the calling thread has read without getting it: it is
 * being cancelled, or has jumped away. For verbs that wait for acknowledgements. For verbs that
 * create a QP, because a provider destroys one under the lock that they take. For the close of a
 * device, whose address another device may get.
 */
void event_ack_own(void);

/**
 * event_state_wait - state_wait() for another thread's verb. If this thread has such an event, the
 * verb may wait for that: acknowledge it, and return without waiting. Lock held.
 */
void event_state_wait(void);

#endif
