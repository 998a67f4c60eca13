/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Locks, counts and phases of a forked child. */

#include <pthread.h>

#include <modern/modern.h>

#include <compat/core/state.h>
#include <compat/domain/domain.h>
#include <compat/rcv_qp/rcv_qp.h>
#include <compat/xrc_qp/xrc_qp.h>

#include "fork.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* With the locks taken, for a child is to find no map in the middle of a change. */
static void before(void)
{
	state_forking();
	modern_events_forking();
}

static void in_parent(void)
{
	modern_events_forked(false);
	state_forked(false);
}

static void in_child(void)
{
	modern_events_forked(true);
	state_forked(true);
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
