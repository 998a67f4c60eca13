/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Keeps cancellation away, also one that is under way already. */

#include <poll.h>
#include <pthread.h>
#include <stddef.h>

#include "cancel.h"

static __thread unsigned sections __attribute__((tls_model("initial-exec")));	/* as in shim/rdmacm.c */

bool cancel_is_held(void)
{
	return sections;
}

/*
 * pthread_cancel() looks at the state of an asynchronously cancellable thread and sends a signal, whose handler looks only at
 * the type (glibc 2.36). If the sender loses its processor in between, the signal comes while cancellation is disabled, and
 * ends the thread all the same at its next cancellation point: with our lock in its hands. So the signal is waited for, as
 * every cancellation point does before it goes on; from then on none is sent.
 */
void cancel_hold(struct cancel_hold *hold)
{
	sections++;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold->state);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &hold->type);
	if (hold->type == PTHREAD_CANCEL_ASYNCHRONOUS)
		poll(NULL, 0, 0);
}

/* The type last: pthread_join() would not say PTHREAD_CANCELED if it were the state that ends the thread. */
void cancel_release(const struct cancel_hold *hold)
{
	sections--;
	pthread_setcancelstate(hold->state, NULL);
	pthread_setcanceltype(hold->type, NULL);
}
