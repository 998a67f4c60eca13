/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The forks of a program, and the end of an opened device. */
#include "device.h"
#include "domain.h"
#include "ops.h"
#include "rcv_qp.h"
#include "srq.h"
#include "xrc_qp.h"

#include <modern/modern.h>

#include <errno.h>
#include <pthread.h>

/*
 * A fork handler must not do this: the allocator may be locked, and the child lacks the pages that
 * share registered memory after ibv_fork_init(). So the first verb of the child does it.
 */
static void forget_other_threads(void)
{
	rcv_qp_forked();
	xrc_qp_forked();
	domain_forked();
}

/* As with OFED, a lock of the provider may be taken in the child: fork() does not wait for it. */
static void in_child(void)
{
	state_forked_child(forget_other_threads);
}

/*
 * fork() runs prepare handlers in reverse order of registration. The constructor registers ours
 * first, so that they run last: a handler of the program that ran after them could wait for a lock
 * whose owner waits for our lock.
 */
__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(state_forking, state_forked_parent, in_child);
}

/*
 * Runs before the real close, after which another thread may open a device at the same address.
 * domain_take() comes first: it waits for verbs of other threads, which may still create objects.
 */
static void detach_all(const struct ibv_context *context, struct device_domain_list *ended)
{
	state_lock();
	domain_take(context, ended);
	srq_forget_context(context);
	xrc_qp_forget_context(context);
	ops_forget_context(context);
	state_unlock();
}

int device_close(struct ibv_context *context)
{
	struct device_domain_list ended = LIST_HEAD_INITIALIZER(ended);
	struct device_domain *device_domain;

	if (!context)
		return -EINVAL;
	detach_all(context, &ended);
	while ((device_domain = LIST_FIRST(&ended))) {
		LIST_REMOVE(device_domain, link);
		rcv_qp_end_all(device_domain);
		domain_end(device_domain);
		device_domain_free(device_domain);
	}
	return modern_close_device(context);
}
