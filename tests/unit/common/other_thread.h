/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A verb in another thread, begun while this thread is inside a verb. */
#ifndef TESTS_UNIT_OTHER_THREAD_H
#define TESTS_UNIT_OTHER_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <abi/legacy.h>

#include <harness/thread_state.h>
#include <harness/unit.h>

#define NOT_RETURNED 1	/* verbs return 0 or -errno */

static pthread_t other_thread;
static int (*other_verb)(struct legacy_xrc_domain *domain);
static _Atomic pid_t other_tid;
static _Atomic int other_result;

static void *call_other_verb(void *domain)
{
	other_tid = (pid_t)syscall(SYS_gettid);
	other_result = other_verb(domain);
	return NULL;
}

/* Calls the verb in another thread. Returns after the verb has begun to wait or has returned. */
static inline void begin_verb(int (*verb)(struct legacy_xrc_domain *domain),
			      struct legacy_xrc_domain *domain)
{
	other_verb = verb;
	other_tid = 0;
	other_result = NOT_RETURNED;
	assert_int_equal(pthread_create(&other_thread, NULL, call_other_verb, domain), 0);
	while (other_result == NOT_RETURNED && !(other_tid && thread_state(other_tid) == 'S'))
		sched_yield();
}

/* Waits for the end of the verb; returns its result. */
static inline int end_verb(void)
{
	assert_int_equal(pthread_join(other_thread, NULL), 0);
	return other_result;
}

#endif
