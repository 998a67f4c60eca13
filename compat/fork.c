/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Locks, counts and phases of a forked child. */

#include <pthread.h>
#include <stdbool.h>

#include "cancel.h"
#include "domain.h"
#include "fork.h"
#include "rcv_qp.h"
#include "state.h"
#include "xrc_qp.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread bool locked __attribute__((tls_model("initial-exec")));	/* as in shim/rdmacm.c */

/*
 * Take the lock, so that the child finds every map complete. A signal handler that forks inside a verb does not take it, because
 * its own thread may have it; the child of such a handler usually just calls exec.
 *
 * OFED did not wait for the locks of providers, either.
 */
static void before(void)
{
	locked = !cancel_is_held();
	state_forking(locked);
}

static void in_parent(void)
{
	state_forked(false, locked);
}

static void in_child(void)
{
	state_forked(true, locked);
	state_lock();
	domain_forked();
	rcv_qp_forked();
	xrc_qp_forked();
	state_unlock();
}

static void watch(void)
{
	pthread_atfork(before, in_parent, in_child);
}

void fork_watch(void)
{
	pthread_once(&once, watch);
}
