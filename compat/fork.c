/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Locks, counts and phases of a forked child. */

#include <pthread.h>
#include <stdbool.h>

#include <modern/modern.h>

#include "cancel.h"
#include "domain.h"
#include "fork.h"
#include "rcv_qp.h"
#include "state.h"
#include "xrc_qp.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread bool locked __attribute__((tls_model("initial-exec")));	/* as in shim/rdmacm.c */

/*
 * With the lock taken, so that the child finds no map in the middle of a change. But not in a handler of a signal that forks in
 * the middle of a verb: its thread may have the lock, and would wait for ever. Its child hardly does more than exec.
 */
static void before(void)
{
	locked = !cancel_is_held();
	modern_forking(locked);
	state_forking(locked);
}

static void in_parent(void)
{
	state_forked(false, locked);
	modern_forked(false);
}

static void in_child(void)
{
	modern_forked(true);
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
