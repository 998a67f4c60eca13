/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads that are cancelled in ibv_get_async_event, as MVAPICH and MVAPICH2 end their event
 * threads, and in ibv_destroy_srq.
 */

#define GROUP "cancel"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

/* A process that raises events all the time, until it is killed. */
static pid_t keep_injecting(uint32_t qp_num)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	row_inherit("");
	/* Its last softhca command may run after the QP has ended, and then prints an error. */
	must(freopen("/dev/null", "w", stderr));
	for (;;) {
		inject_event(0, "path_mig", qp_num);
		usleep(500);
	}
}

static void end_injector(pid_t pid)
{
	must(!kill(pid, SIGKILL));
	must(waitpid(pid, NULL, 0) == pid);
}

struct victim {
	struct end *end;
	int type;
	int got;
	volatile pid_t thread;
};

static void *get_for_ever(void *arg)
{
	struct victim *victim = arg;

	pthread_setcanceltype(victim->type, NULL);
	victim->thread = gettid();
	for (;;) {
		struct ibv_async_event event;

		if (ibv_get_async_event(victim->end->context, &event))
			continue;
		__atomic_add_fetch(&victim->got, 1, __ATOMIC_RELAXED);
		ibv_ack_async_event(&event);
	}
	return NULL;
}

/* Starts get_for_ever(), and returns when its thread sleeps. */
static pthread_t start_victim(struct victim *victim)
{
	pthread_t thread;

	victim->thread = 0;
	thread = events_start(get_for_ever, victim);
	events_await_sleep(&victim->thread);
	return thread;
}

struct creating {
	struct end *end;
	volatile int stop;
};

/*
 * While the library opens a handle, ibv_get_async_event waits. So the victim stays inside it for
 * longer.
 */
static void *create_for_ever(void *arg)
{
	struct creating *creating = arg;

	while (!creating->stop)
		must_eq(ibv_unreg_xrc_rcv_qp(creating->end->domain,
					     receive_qp(creating->end->domain)),
			0);
	return NULL;
}

static void cancel_many(int type, int times)
{
	struct end end;
	struct victim victim = { .end = &end, .type = type };
	pid_t injectors[3];
	struct creating creating = { .end = &end };
	pthread_t creator;
	uint32_t qp_num;
	void *result;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	for (int i = 0; i < 3; i++)
		injectors[i] = keep_injecting(qp_num);
	creator = events_start(create_for_ever, &creating);
	srandom(20080204);
	for (int i = 0; i < times || (!victim.got && i < 100 * times); i++) {
		pthread_t thread = events_start(get_for_ever, &victim);

		usleep((unsigned)(random() % 5000));
		must(!pthread_cancel(thread));
		must(!pthread_join(thread, &result));
		must(result == PTHREAD_CANCELED);
	}
	for (int i = 0; i < 3; i++)
		end_injector(injectors[i]);
	creating.stop = 1;
	must(!pthread_join(creator, NULL));
	must(victim.got > 0);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}

ROW("a thread that is cancelled while events arrive leaves no lock held")
{
	cancel_many(PTHREAD_CANCEL_DEFERRED, 50);
}

static void *destroy_srq_cancelled(void *arg)
{
	/* The first cancellation point that takes effect is the wait. */
	pthread_cancel(pthread_self());
	ibv_destroy_srq(arg);
	return NULL;
}

/* Contract 1.3: ibv_destroy_srq waits until every event is acknowledged. */
ROW("an ibv_destroy_srq that is cancelled while it waits can be repeated")
{
	struct ibv_async_event event;
	struct end end;
	void *result;

	end_open(&end, 0, -1, false);
	inject_event(0, "srq_limit_reached", end.own.srq_num);
	event = end_event(&end);
	must(event.element.srq == end.srq);
	must(!pthread_join(events_start(destroy_srq_cancelled, end.srq), &result));
	must(result == PTHREAD_CANCELED);
	ibv_ack_async_event(&event);
	end_close(&end);
}

#undef GROUP
#define GROUP "asynchronous"

ROW("a thread cancelled asynchronously while events arrive leaves no lock held")
{
	cancel_many(PTHREAD_CANCEL_ASYNCHRONOUS, 200);
}

ROW("after each of ten cancelled threads a new reader gets the next event")
{
	struct victim victim = { .type = PTHREAD_CANCEL_ASYNCHRONOUS };
	struct ibv_async_event event;
	struct end end;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	victim.end = &end;
	for (int i = 0; i < 10; i++) {
		pthread_t thread = start_victim(&victim);

		must(!pthread_cancel(thread));
		must(!pthread_join(thread, NULL));
		inject_event(0, "path_mig", qp_num);
		event = end_event(&end);
		must_eq(event_number(&event), qp_num);
	}
	must_eq(victim.got, 0);
}

/* Contract 1.4 and 5.8. */
ROW("after two asynchronous cancellations a waiting thread gets its event")
{
	struct end end;
	struct waiter waiter = { .end = &end };
	struct victim victim = { .end = &end, .type = PTHREAD_CANCEL_ASYNCHRONOUS };
	pthread_t threads[3];
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	threads[0] = start_victim(&victim);
	threads[1] = events_start_waiting(&waiter);
	threads[2] = start_victim(&victim);
	for (int i = 0; i < 3; i += 2) {
		must(!pthread_cancel(threads[i]));
		must(!pthread_join(threads[i], NULL));
	}
	must(!waiter.done);
	inject_event(0, "path_mig", qp_num);
	must(!pthread_join(threads[1], NULL));
	must_eq(waiter.result, 0);
	must_eq((uint32_t)waiter.event.event_type, flagged(IBV_EVENT_PATH_MIG));
	must_eq(event_number(&waiter.event), qp_num);
	must_eq(victim.got, 0);
	ibv_ack_async_event(&waiter.event);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}
