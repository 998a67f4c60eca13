/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Threads that sit in ibv_get_async_event: several of them, cancelled, disturbed by signals. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "events.h"

static pthread_t start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, run, arg));
	return thread;
}

/* ---- two threads on one device ---- */

struct shift {
	struct end *end;
	int got;
};

/* Until the port's event. */
static void *get_until_port(void *arg)
{
	struct shift *shift = arg;

	for (;;) {
		struct ibv_async_event event;

		must_eq(ibv_get_async_event(shift->end->context, &event), 0);
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_PORT_ACTIVE)
			return NULL;
		must_eq((uint32_t)event.event_type, flagged(IBV_EVENT_PATH_MIG));
		__atomic_add_fetch(&shift->got, 1, __ATOMIC_RELAXED);
	}
}

static void two_threads(void)
{
	struct shift shift = { 0 };
	pthread_t threads[2];
	struct end end;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(&end);
	shift.end = &end;
	for (int i = 0; i < 2; i++)
		threads[i] = start(get_until_port, &shift);
	for (int i = 0; i < 20; i++)
		inject(0, "path_mig", qp_num);
	for (int i = 0; i < 2; i++)
		inject(0, "port_active", 1);
	for (int i = 0; i < 2; i++)
		must(!pthread_join(threads[i], NULL));
	must_eq(shift.got, 20);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}

/* The main thread goes on with everything else meanwhile: no lock is held by who waits. */
static void nobody_waits_for_the_waiting(void)
{
	struct shift shift = { 0 };
	struct end end, other;
	pthread_t thread;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	shift.end = &end;
	thread = start(get_until_port, &shift);
	usleep(20000);
	for (int i = 0; i < 5; i++) {
		qp_num = receive_qp(&end);
		must_eq(ibv_reg_xrc_rcv_qp(end.domain, qp_num), 0);
		end_create_qp(&end, 4);
		end_open(&other, 0, -1, false);
		end_close(&other);
		must_eq(ibv_destroy_qp(end.qp), 0);
		must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	}
	end.qp = NULL;
	inject(0, "port_active", 1);
	must(!pthread_join(thread, NULL));
	end_close(&end);
}

struct waiter {
	struct end *end;
	volatile int done;
	int result, error;
	struct ibv_async_event event;
};

static void *get_once(void *arg)
{
	struct waiter *waiter = arg;

	waiter->result = ibv_get_async_event(waiter->end->context, &waiter->event);
	waiter->error = errno;
	waiter->done = 1;
	return NULL;
}

/* ---- cancelled ---- */

/* Events come all the time, from a process of its own, until it is killed. */
static pid_t keep_injecting(uint32_t qp_num)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	row_inherit("");
	/* Its last command may outlive it, and the QP. */
	must(freopen("/dev/null", "w", stderr));
	for (;;) {
		inject(0, "path_mig", qp_num);
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
};

static void *get_for_ever(void *arg)
{
	struct victim *victim = arg;

	pthread_setcanceltype(victim->type, NULL);
	for (;;) {
		struct ibv_async_event event;

		if (ibv_get_async_event(victim->end->context, &event))
			continue;
		__atomic_add_fetch(&victim->got, 1, __ATOMIC_RELAXED);
		ibv_ack_async_event(&event);
	}
	return NULL;
}

struct creating {
	struct end *end;
	volatile int stop;
};

/* While a handle is opened events have to wait: who is being handed one is then for long inside. */
static void *create_again_and_again(void *arg)
{
	struct creating *creating = arg;

	while (!creating->stop)
		must_eq(ibv_unreg_xrc_rcv_qp(creating->end->domain, receive_qp(creating->end)), 0);
	return NULL;
}

static void cancel_many(int type, int times)
{
	struct victim victim = { .type = type };
	pid_t injectors[3];
	struct end end;
	struct creating creating = { .end = &end };
	pthread_t creator;
	uint32_t qp_num;
	void *result;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(&end);
	victim.end = &end;
	for (int i = 0; i < 3; i++)
		injectors[i] = keep_injecting(qp_num);
	creator = start(create_again_and_again, &creating);
	srandom(20080204);
	for (int i = 0; i < times; i++) {
		pthread_t thread = start(get_for_ever, &victim);

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

static void cancelled_asynchronously(void)
{
	cancel_many(PTHREAD_CANCEL_ASYNCHRONOUS, 200);
}

static void cancelled_at_its_points(void)
{
	cancel_many(PTHREAD_CANCEL_DEFERRED, 50);
}

/* Whoever comes after one that was cancelled gets what comes then. */
static void next_one_gets_the_next(void)
{
	struct victim victim = { .type = PTHREAD_CANCEL_ASYNCHRONOUS };
	struct ibv_async_event event;
	struct end end;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(&end);
	victim.end = &end;
	for (int i = 0; i < 10; i++) {
		pthread_t thread = start(get_for_ever, &victim);

		usleep(3000);
		must(!pthread_cancel(thread));
		must(!pthread_join(thread, NULL));
		inject(0, "path_mig", qp_num);
		event = end_event(&end);
		must_eq(event_number(&event), qp_num);
	}
	must_eq(victim.got, 0);
}

/* Two that wait are cancelled, and a third that waits with them still gets what is its own (contract 1.4 and 5.8). */
static void third_one_gets_its_event(void)
{
	struct end end;
	struct waiter third = { .end = &end };
	struct victim victim = { .end = &end, .type = PTHREAD_CANCEL_ASYNCHRONOUS };
	pthread_t threads[3];
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(&end);
	threads[0] = start(get_for_ever, &victim);
	threads[1] = start(get_once, &third);
	threads[2] = start(get_for_ever, &victim);
	usleep(20000);
	for (int i = 0; i < 3; i += 2) {
		must(!pthread_cancel(threads[i]));
		must(!pthread_join(threads[i], NULL));
	}
	must(!third.done);
	inject(0, "path_mig", qp_num);
	must(!pthread_join(threads[1], NULL));
	must_eq(third.result, 0);
	must_eq((uint32_t)third.event.event_type, flagged(IBV_EVENT_PATH_MIG));
	must_eq(event_number(&third.event), qp_num);
	must_eq(victim.got, 0);
	ibv_ack_async_event(&third.event);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}

/* ---- signals ---- */

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static void handle_signal(int flags)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };

	must(!sigaction(SIGUSR1, &action, NULL));
}

/* read(2), in which old programs waited, goes on after such a handler; profilers and launchers rely on it. */
static void restarted(void)
{
	const struct sigaction backtrace = { .sa_handler = count_signal, .sa_flags = (int)SA_RESETHAND };
	struct waiter waiter = { 0 };
	struct end end;
	pthread_t thread;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(&end);
	waiter.end = &end;
	handle_signal(SA_RESTART);
	/* As MPI libraries do, for a backtrace: not a handler that is meant to end anything but the process. */
	must(!sigaction(SIGSEGV, &backtrace, NULL));
	thread = start(get_once, &waiter);
	for (int i = 1; i <= 3; i++) {
		usleep(20000);
		must(!pthread_kill(thread, SIGUSR1));
		for (int patience = 0; signals < i && patience < 4000; patience++)
			usleep(500);
		usleep(20000);
		must(!waiter.done);
		must_eq(signals, i);
	}
	inject(0, "path_mig", qp_num);
	must(!pthread_join(thread, NULL));
	must_eq(waiter.result, 0);
	must_eq(event_number(&waiter.event), qp_num);
}

static void interrupted(void)
{
	struct waiter waiter = { 0 };
	struct end end;
	pthread_t thread;

	end_open(&end, 0, -1, false);
	waiter.end = &end;
	handle_signal(0);
	thread = start(get_once, &waiter);
	while (!waiter.done) {
		usleep(10000);
		pthread_kill(thread, SIGUSR1);
	}
	must(!pthread_join(thread, NULL));
	must_eq(waiter.result, -1);
	must_eq(waiter.error, EINTR);
}

/* ---- QPs come and go while their events are handled ---- */

static void *handle_without_flag(void *arg)
{
	struct shift *shift = arg;

	for (;;) {
		struct ibv_async_event event;

		must_eq(ibv_get_async_event(shift->end->context, &event), 0);
		if (event.event_type == IBV_EVENT_PORT_ACTIVE)
			return NULL;
		must_eq((uint32_t)event.event_type, flagged(IBV_EVENT_COMM_EST));
		event.event_type ^= IBV_XRC_QP_EVENT_FLAG;
		ibv_ack_async_event(&event);
		__atomic_add_fetch(&shift->got, 1, __ATOMIC_RELAXED);
	}
}

static void connect_to_itself(struct end *end, uint32_t qp_num)
{
	end->peer = end->own;
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_RTR; state++) {
		int mask;
		struct ibv_qp_attr attr = end_attr(end, state, &mask);

		must_eq(ibv_modify_xrc_rcv_qp(end->domain, qp_num, &attr, mask), 0);
	}
	end->peer.qp_num = qp_num;
	end_bring(end, IBV_QPS_RTS);
}

static void come_and_go(void)
{
	struct shift shift = { 0 };
	pthread_t thread;
	struct end end;

	end_open(&end, 0, -1, false);
	shift.end = &end;
	thread = start(handle_without_flag, &shift);
	for (int i = 0; i < 50; i++) {
		uint32_t qp_num = receive_qp(&end);

		end_create_qp(&end, 4);
		connect_to_itself(&end, qp_num);
		end_post_recv(&end, 1, 4096, 4096);
		end_send(&end, IBV_WR_SEND, 0, 8);
		end_poll(&end);
		end_poll(&end);
		/* The handler has the event now, is about to read it, or never will. */
		must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
		must_eq(ibv_destroy_qp(end.qp), 0);
	}
	end.qp = NULL;
	inject(0, "port_active", 1);
	must(!pthread_join(thread, NULL));
	must(shift.got > 0);
	end_close(&end);
}

const struct row thread_rows[] = {
	{ "two threads get each event once between them", two_threads },
	{ "nobody waits for a thread that waits for events", nobody_waits_for_the_waiting },
	{ "cancelled asynchronously 200 times while events arrive", cancelled_asynchronously },
	{ "cancelled at its cancellation points while events arrive", cancelled_at_its_points },
	{ "two are cancelled asynchronously, a third still gets its event", third_one_gets_its_event },
	{ "after one that was cancelled the next gets the next event", next_one_gets_the_next },
	{ "a signal handler with SA_RESTART does not end the wait", restarted },
	{ "a signal handler without it ends the wait with EINTR", interrupted },
	{ "QPs come and go while their events are handled", come_and_go },
};

GROUP(thread);
