/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A signal handler leaves ibv_get_async_event by siglongjmp(3), at any instruction. The environment
 * variable JUMPS is the number of jumps; default 10000.
 */

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "receiver.h"

#define INJECT_EVERY 500	/* jumps */

static __thread sigjmp_buf out;
static __thread volatile sig_atomic_t may_jump;
static int jumps, got, ended;

static void jump(int number)
{
	(void)number;
	if (may_jump)
		siglongjmp(out, 1);
}

/* A query would hang if the library's lock were still taken. */
static void check_after_jump(void)
{
	int state;

	must(!pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state));
	must_eq(state, PTHREAD_CANCEL_ENABLE);
	must_eq(query_receive_qp(self.domain, rcv_qp_num), 0);
}

static void get_one(void)
{
	struct ibv_async_event event;
	int ret;

	may_jump = 1;
	ret = ibv_get_async_event(self.context, &event);
	may_jump = 0;
	if (ret) {
		must_eq(errno, EINTR);
		return;
	}
	__atomic_add_fetch(&got, 1, __ATOMIC_RELAXED);
	ibv_ack_async_event(&event);
}

static void *read_and_jump(void *unused)
{
	while (!__atomic_load_n(&ended, __ATOMIC_RELAXED)) {
		if (!sigsetjmp(out, 1)) {
			get_one();
			continue;
		}
		may_jump = 0;
		__atomic_add_fetch(&jumps, 1, __ATOMIC_RELAXED);
		check_after_jump();
	}
	return unused;
}

/* Sends signals after random delays, and injects events in between. */
static void disturb(pthread_t thread, int wanted)
{
	unsigned seed = 1;
	int done;

	for (int next = 0; (done = __atomic_load_n(&jumps, __ATOMIC_RELAXED)) < wanted;) {
		if (done >= next) {
			inject_event(0, "path_mig", rcv_qp_num);
			next += INJECT_EVERY;
		}
		for (volatile int i = rand_r(&seed) % 3000; i > 0; i--)
			;
		must(!pthread_kill(thread, SIGUSR1));
	}
	__atomic_store_n(&ended, 1, __ATOMIC_RELAXED);
	while (pthread_tryjoin_np(thread, NULL) == EBUSY) {
		must(!pthread_kill(thread, SIGUSR1));
		usleep(1000);
	}
}

ROW("after a handler jumped out, the cancel state is enabled and a query returns")
{
	const char *wanted = getenv("JUMPS");
	struct sigaction action = { .sa_handler = jump };

	must(!sigaction(SIGUSR1, &action, NULL));
	disturb(start_thread(read_and_jump, NULL), wanted ? atoi(wanted) : 10000);
	must(got > 0);
}
