/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Async events of a program with receive QPs: their content, threads that wait for them, and
 * threads that are cancelled meanwhile, as MVAPICH and MVAPICH2 end their event threads. The
 * contract's rows assert which registrants get an event.
 */

#define GROUP "flagged"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <harness/thread_state.h>
#include "receiver.h"

/* The whole union: the QP number in the lower half and zeros in the upper one. */
static uint64_t event_number(const struct ibv_async_event *event)
{
	uint64_t number = 0; /* a 32-bit program's union has only the lower half */

	memcpy(&number, &event->element, sizeof(event->element));
	return number;
}

static void must_be_flagged(const struct ibv_async_event *event, enum ibv_event_type type)
{
	/* Unsigned, as bit 31 does not fit into an int. */
	must_eq((uint32_t)event->event_type, (uint32_t)type | 0x80000000u);
	must_eq(event_number(event), rcv_qp_num);
}

/* ---- content ---- */

static const struct {
	const char *name;
	enum ibv_event_type type;
} kinds[] = {
	{ "qp_fatal", IBV_EVENT_QP_FATAL },
	{ "qp_req_err", IBV_EVENT_QP_REQ_ERR },
	{ "qp_access_err", IBV_EVENT_QP_ACCESS_ERR },
	{ "comm_est", IBV_EVENT_COMM_EST },
	{ "sq_drained", IBV_EVENT_SQ_DRAINED },
	{ "path_mig", IBV_EVENT_PATH_MIG },
	{ "path_mig_err", IBV_EVENT_PATH_MIG_ERR },
	{ "last_wqe_reached", IBV_EVENT_QP_LAST_WQE_REACHED },
};

ROW("each event of a receive QP has the flag and the QP number")
{
	struct ibv_async_event event;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		inject_event(0, kinds[i].name, rcv_qp_num);
		memset(&event, 0xff, sizeof(event));
		must_eq(ibv_get_async_event(self.context, &event), 0);
		must_be_flagged(&event, kinds[i].type);
		ibv_ack_async_event(&event);
		side_no_event(&self, 20);
	}
}

ROW("an ordinary SRQ's event carries the program's pointer")
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_async_event event;
	struct ibv_srq *plain;
	struct side other;

	side_open(&other, 0, -1, false);
	plain = ibv_create_srq(other.pd, &attr);
	must(plain);
	/*
	 * The plain SRQ got the next number: they are given out in order, and no other program uses
	 * this device.
	 */
	inject_event(0, "srq_limit_reached", other.own.srq_num + 1);
	event = side_event(&other);
	must_eq(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	must(event.element.srq == plain);
	ibv_ack_async_event(&event);
	must_eq(ibv_destroy_srq(plain), 0);
	side_close(&other);
}

/* ---- threads that wait ---- */

#undef GROUP
#define GROUP "thread"

/* A thread that waits for one event. */
struct waiter {
	volatile int done;
	volatile pid_t thread;
	int result, err;
	struct ibv_async_event event;
};

static void *get_once(void *arg)
{
	struct waiter *waiter = arg;

	waiter->thread = gettid();
	waiter->result = ibv_get_async_event(self.context, &waiter->event);
	waiter->err = errno;
	waiter->done = 1;
	return NULL;
}

/* Returns when the thread, which writes its number there, sleeps. */
static void await_sleep(const volatile pid_t *thread)
{
	char state;

	while (!*thread)		/* the row's time limit ends both */
		usleep(500);
	while ((state = thread_state(*thread)) != 'S') {
		must(state);
		usleep(500);
	}
}

static pthread_t start_waiting(struct waiter *waiter)
{
	pthread_t thread = start_thread(get_once, waiter);

	await_sleep(&waiter->thread);
	return thread;
}

/* The event ends the wait, which nothing has ended before. */
static void must_get(pthread_t thread, struct waiter *waiter)
{
	must(!waiter->done);
	inject_event(0, "path_mig", rcv_qp_num);
	join_thread(thread);
	must_eq(waiter->result, 0);
	must_be_flagged(&waiter->event, IBV_EVENT_PATH_MIG);
	ibv_ack_async_event(&waiter->event);
}

ROW("while a thread waits for events, another creates, registers and destroys objects")
{
	struct waiter waiter = { 0 };
	pthread_t thread = start_waiting(&waiter);
	struct side other;
	uint32_t qp_num;

	for (int i = 0; i < 5; i++) {
		qp_num = receive_qp(self.domain);
		must_eq(ibv_reg_xrc_rcv_qp(self.domain, qp_num), 0);
		side_create_qp(&self, 4);
		side_open(&other, 0, -1, false);
		side_close(&other);
		side_destroy_qp(&self);
		end_receive_qp(self.domain, qp_num);
	}
	must_get(thread, &waiter);
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
	(void)number;
	signals++;
}

static void handle(int number, int flags)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };

	must(!sigaction(number, &action, NULL));
}

/*
 * Old programs waited in read(2), which goes on after a handler with SA_RESTART; profilers and
 * launchers rely on it.
 */
ROW("a signal handler with SA_RESTART does not end the wait")
{
	struct waiter waiter = { 0 };
	pthread_t thread;

	handle(SIGUSR1, SA_RESTART);
	/*
	 * MPI libraries have such a handler for a backtrace. The library must not take it for a
	 * handler that ends waits.
	 */
	handle(SIGSEGV, (int)SA_RESETHAND);
	thread = start_waiting(&waiter);
	for (int i = 1; i <= 3; i++) {
		must(!pthread_kill(thread, SIGUSR1));
		while (signals < i)	/* the row's time limit ends this */
			usleep(500);
		usleep(20000);		/* a wrong return would come within this time */
		must(!waiter.done);
		must_eq(signals, i);
	}
	must_get(thread, &waiter);
}

static void interrupted_by(int flags)
{
	struct waiter waiter = { 0 };
	pthread_t thread;

	handle(SIGUSR1, flags);
	thread = start_waiting(&waiter);
	must(!pthread_kill(thread, SIGUSR1));
	join_thread(thread);
	must_eq(waiter.result, -1);
	must_eq(waiter.err, EINTR);
	must_eq(signals, 1);
}

ROW("a signal handler without SA_RESTART ends the wait with EINTR")
{
	interrupted_by(0);
}

/* SA_RESETHAND has removed the handler by the time the wait has ended. */
ROW("a signal handler with SA_RESETHAND ends the wait with EINTR")
{
	interrupted_by((int)SA_RESETHAND);
}

/* Old programs end an event thread so: its ibv_get_async_event fails. */
ROW("closing a device ends the wait for its events with an error")
{
	struct waiter waiter = { 0 };
	pthread_t thread = start_waiting(&waiter);

	close_receiver();
	join_thread(thread);
	must_eq(waiter.result, -1);
	/* The library returns EIO. Another errno would come from the freed context. */
	must_eq(waiter.err, EIO);
	open_receiver();
	side_no_event(&self, 0);
}

/* ---- threads that are cancelled ---- */

#undef GROUP
#define GROUP "asynchronously"

/* Is cancelled before the event comes. */
static void *get_cancelled(void *thread)
{
	struct ibv_async_event event;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	*(volatile pid_t *)thread = gettid();
	ibv_get_async_event(self.context, &event);
	return NULL;
}

/* Contract 1.4 and 5.8. */
ROW("after two asynchronous cancellations a waiting thread gets its event")
{
	volatile pid_t sleepers[2] = { 0 };
	struct waiter waiter = { 0 };
	pthread_t threads[2], waiting;

	threads[0] = start_thread(get_cancelled, (void *)&sleepers[0]);
	await_sleep(&sleepers[0]);
	waiting = start_waiting(&waiter);
	threads[1] = start_thread(get_cancelled, (void *)&sleepers[1]);
	await_sleep(&sleepers[1]);
	for (int i = 0; i < 2; i++) {
		must(!pthread_cancel(threads[i]));
		must(join_thread(threads[i]) == PTHREAD_CANCELED);
	}
	must_get(waiting, &waiter);
}
