/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Sections in which a thread cannot be cancelled. */

#include <poll.h>
#include <pthread.h>
#include <stddef.h>

#include "cancel.h"

/* How many sections the thread is in. Initial-exec as in shim/rdmacm.c. */
static __thread unsigned sections __attribute__((tls_model("initial-exec")));

/*
 * pthread_cancel() looks at the state of an asynchronously cancellable thread and sends a signal,
 * whose handler looks only at the type (glibc 2.36). If the sender loses its processor in between,
 * the signal comes while cancellation is disabled. It then ends the thread at its next cancellation
 * point all the same, perhaps with the lock taken. So cancel_hold() calls poll(2): like every
 * cancellation point it waits for a signal that is under way. After that no such signal is sent.
 */
void cancel_hold(struct cancel_hold *hold)
{
	sections++;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold->state);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &hold->type);
	if (hold->type == PTHREAD_CANCEL_ASYNCHRONOUS)
		poll(NULL, 0, 0);
}

/* The type last: if this ended the thread, pthread_join() would not return PTHREAD_CANCELED. */
void cancel_release(const struct cancel_hold *hold)
{
	sections--;
	pthread_setcancelstate(hold->state, NULL);
	pthread_setcanceltype(hold->type, NULL);
}

bool cancel_is_held(void)
{
	return sections;
}
