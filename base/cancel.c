/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Sections in which a thread cannot be cancelled. */
#include "cancel.h"

#include <poll.h>
#include <pthread.h>
#include <stddef.h>

/*
 * If a thread can be cancelled asynchronously, pthread_cancel() reads its state and then sends it a
 * signal (glibc 2.36). The state may change in between. The handler of the signal looks only at the
 * type, so the thread then ends at its next cancellation point, perhaps with the lock taken.
 *
 * So cancel_hold() calls poll(2) after it has changed the state. Like every cancellation point,
 * poll(2) waits for a signal that is under way. Later calls of pthread_cancel() send none.
 */
void cancel_hold(struct cancel_hold *hold)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold->state);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &hold->type);
	if (hold->type == PTHREAD_CANCEL_ASYNCHRONOUS)
		poll(NULL, 0, 0);
}

/*
 * The type last: if pthread_setcancelstate() ended the thread, pthread_join() would not return
 * PTHREAD_CANCELED.
 */
void cancel_release(const struct cancel_hold *hold)
{
	pthread_setcancelstate(hold->state, NULL);
	pthread_setcanceltype(hold->type, NULL);
}
