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

#include "../end.h"
#include "../receiver.h"
#include "../../row.h"

#define INJECT_EVERY 500	/* jumps */

static __thread sigjmp_buf out;
static __thread volatile sig_atomic_t may_jump;

static void jump(int number)
{
	(void)number;
	if (may_jump)
		siglongjmp(out, 1);
}

struct reader {
	struct end *end;
	uint32_t qp_num;
	int jumps, got;
	int ended;	/* set by the main thread */
};

/* A query would hang if the library's lock were still taken. */
static void check_after_jump(struct reader *reader)
{
	int state;

	must(!pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state));
	must_eq(state, PTHREAD_CANCEL_ENABLE);
	must_eq(query_receive_qp(reader->end->domain, reader->qp_num), 0);
}

static void get_one(struct reader *reader)
{
	struct ibv_async_event event;
	int ret;

	may_jump = 1;
	ret = ibv_get_async_event(reader->end->context, &event);
	may_jump = 0;
	if (ret) {
		must_eq(errno, EINTR);
		return;
	}
	__atomic_add_fetch(&reader->got, 1, __ATOMIC_RELAXED);
	ibv_ack_async_event(&event);
}

static void *read_and_jump(void *arg)
{
	struct reader *reader = arg;

	while (!__atomic_load_n(&reader->ended, __ATOMIC_RELAXED)) {
		if (!sigsetjmp(out, 1)) {
			get_one(reader);
			continue;
		}
		may_jump = 0;
		__atomic_add_fetch(&reader->jumps, 1, __ATOMIC_RELAXED);
		check_after_jump(reader);
	}
	return NULL;
}

static int jumped(const struct reader *reader)
{
	return __atomic_load_n(&reader->jumps, __ATOMIC_RELAXED);
}

/* Sends signals after random delays, and injects events in between. */
static void disturb(struct reader *reader, pthread_t thread, int wanted)
{
	unsigned seed = 1;

	for (int next = 0; jumped(reader) < wanted;) {
		if (jumped(reader) >= next) {
			inject_event(0, "path_mig", reader->qp_num);
			next += INJECT_EVERY;
		}
		for (volatile int i = rand_r(&seed) % 3000; i > 0; i--)
			;
		must(!pthread_kill(thread, SIGUSR1));
	}
	__atomic_store_n(&reader->ended, 1, __ATOMIC_RELAXED);
	while (pthread_tryjoin_np(thread, NULL) == EBUSY) {
		must(!pthread_kill(thread, SIGUSR1));
		usleep(1000);
	}
}

ROW("after a handler jumped out, the cancel state is enabled and a query returns")
{
	const char *wanted = getenv("JUMPS");
	struct sigaction action = { .sa_handler = jump };
	struct end end;
	struct reader reader = { .end = &end };
	pthread_t thread;

	must(!sigaction(SIGUSR1, &action, NULL));
	end_open(&end, 0, -1, false);
	reader.qp_num = receive_qp(end.domain);
	must(!pthread_create(&thread, NULL, read_and_jump, &reader));
	disturb(&reader, thread, wanted ? atoi(wanted) : 10000);
	must(reader.got > 0);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, reader.qp_num), 0);
	end_close(&end);
}

static void *jump_and_end(void *arg)
{
	struct reader *reader = arg;

	if (!sigsetjmp(out, 1))
		get_one(reader);
	may_jump = 0;
	__atomic_add_fetch(&reader->jumps, 1, __ATOMIC_RELAXED);
	if (reader->ended)
		pthread_exit(reader);
	for (;;)
		pause();
}

/* A thread that has jumped out of ibv_get_async_event ends. Returns its result. */
static void *end_after_jump(bool exits)
{
	struct end end;
	struct reader reader = { .end = &end, .ended = exits };
	pthread_t thread;
	void *result;

	must(signal(SIGUSR1, jump) != SIG_ERR);
	end_open(&end, 0, -1, false);
	must(!pthread_create(&thread, NULL, jump_and_end, &reader));
	while (!jumped(&reader)) {
		usleep(1000);
		must(!pthread_kill(thread, SIGUSR1));
	}
	if (!exits)
		must(!pthread_cancel(thread));
	must(!pthread_join(thread, &result));
	end_close(&end);
	return result;
}

ROW("after a jump a cancelled thread ends and its device closes")
{
	must(end_after_jump(false) == PTHREAD_CANCELED);
}

ROW("after a jump a thread ends by pthread_exit and its device closes")
{
	must(end_after_jump(true));
}
