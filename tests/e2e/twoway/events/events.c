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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../../thread_state.h"
#include "../receiver.h"

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

static pthread_t start(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	must(!pthread_create(&thread, NULL, run, arg));
	return thread;
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
		must_eq(ibv_get_async_event(end.context, &event), 0);
		must_be_flagged(&event, kinds[i].type);
		ibv_ack_async_event(&event);
		end_no_event(&end, 0);
	}
}

ROW("an ordinary SRQ's event carries the program's pointer")
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_async_event event;
	struct ibv_srq *plain;
	struct end other;

	end_open(&other, 0, -1, false);
	plain = ibv_create_srq(other.pd, &attr);
	must(plain);
	/*
	 * The plain SRQ got the next number: they are given out in order, and no other program uses
	 * this device.
	 */
	inject_event(0, "srq_limit_reached", other.own.srq_num + 1);
	event = end_event(&other);
	must_eq(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	must(event.element.srq == plain);
	ibv_ack_async_event(&event);
	must_eq(ibv_destroy_srq(plain), 0);
	end_close(&other);
}

/* ---- threads that wait ---- */

#undef GROUP
#define GROUP "thread"

static int got;

/* Reads events until the port's. */
static void *get_until_port(void *unused)
{
	struct ibv_async_event event;

	for (;;) {
		must_eq(ibv_get_async_event(end.context, &event), 0);
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_PORT_ACTIVE)
			return unused;
		must_be_flagged(&event, IBV_EVENT_PATH_MIG);
		__atomic_add_fetch(&got, 1, __ATOMIC_RELAXED);
	}
}

ROW("two threads get each event once between them")
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		threads[i] = start(get_until_port, NULL);
	for (int i = 0; i < 20; i++)
		inject_event(0, "path_mig", rcv_qp_num);
	for (int i = 0; i < 2; i++)
		inject_event(0, "port_active", 1);
	for (int i = 0; i < 2; i++)
		must(!pthread_join(threads[i], NULL));
	must_eq(got, 20);
}

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
	waiter->result = ibv_get_async_event(end.context, &waiter->event);
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
	pthread_t thread = start(get_once, waiter);

	await_sleep(&waiter->thread);
	return thread;
}

/* The event ends the wait, which nothing has ended before. */
static void must_get(pthread_t thread, struct waiter *waiter)
{
	must(!waiter->done);
	inject_event(0, "path_mig", rcv_qp_num);
	must(!pthread_join(thread, NULL));
	must_eq(waiter->result, 0);
	must_be_flagged(&waiter->event, IBV_EVENT_PATH_MIG);
	ibv_ack_async_event(&waiter->event);
}

ROW("while a thread waits for events, another creates, registers and destroys objects")
{
	struct waiter waiter = { 0 };
	pthread_t thread = start_waiting(&waiter);
	struct end other;
	uint32_t qp_num;

	for (int i = 0; i < 5; i++) {
		qp_num = receive_qp(end.domain);
		must_eq(ibv_reg_xrc_rcv_qp(end.domain, qp_num), 0);
		end_create_qp(&end, 4);
		end_open(&other, 0, -1, false);
		end_close(&other);
		end_destroy_qp(&end);
		must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
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
	must(!pthread_join(thread, NULL));
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
	must(!pthread_join(thread, NULL));
	must_eq(waiter.result, -1);
	/* The library returns EIO. Another errno would come from the freed context. */
	must_eq(waiter.err, EIO);
	open_receiver();
	end_no_event(&end, 0);
}

static void *destroy_qp(void *done)
{
	must_eq(ibv_destroy_qp(end.qp), 0);
	*(volatile bool *)done = true;
	return NULL;
}

/* The events of a sending QP have no flag. Two events need two acknowledgements. */
ROW("destroying a sending QP waits for every acknowledgement, and blocks no other reader")
{
	struct ibv_async_event events[2], other;
	volatile bool done = false;
	pthread_t thread;

	end_create_qp(&end, 16);
	for (int i = 0; i < 2; i++) {
		inject_event(0, "path_mig", end.own.qp_num);
		events[i] = end_event(&end);
		must_eq(events[i].event_type, IBV_EVENT_PATH_MIG);
		must(events[i].element.qp == end.qp);
	}
	ibv_ack_async_event(&events[0]);
	thread = start(destroy_qp, (void *)&done);
	usleep(20000);		/* a wrong return would come within this time */
	must(!done);
	inject_event(0, "path_mig", rcv_qp_num);
	other = end_event(&end);
	must_be_flagged(&other, IBV_EVENT_PATH_MIG);
	must(!done);
	ibv_ack_async_event(&events[1]);
	must(!pthread_join(thread, NULL));
	end.qp = NULL;
}

/* ---- threads that are cancelled ---- */

#undef GROUP
#define GROUP "cancel"

/* A process that raises events all the time, until it is killed. */
static pid_t keep_injecting(void)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	row_inherit("");
	/* Its last softhca command may run after the QP has ended, and then prints an error. */
	must(freopen("/dev/null", "w", stderr));
	for (;;) {
		inject_event(0, "path_mig", rcv_qp_num);
		usleep(500);
	}
}

struct victim {
	int type;
	volatile pid_t thread;
};

static void *get_for_ever(void *arg)
{
	struct victim *victim = arg;
	struct ibv_async_event event;

	pthread_setcanceltype(victim->type, NULL);
	victim->thread = gettid();
	for (;;) {
		if (ibv_get_async_event(end.context, &event))
			continue;
		__atomic_add_fetch(&got, 1, __ATOMIC_RELAXED);
		ibv_ack_async_event(&event);
	}
	return NULL;
}

static void cancel(pthread_t thread)
{
	void *result;

	must(!pthread_cancel(thread));
	must(!pthread_join(thread, &result));
	must(result == PTHREAD_CANCELED);
}

/*
 * While the library opens a handle, ibv_get_async_event waits. So the victim stays inside it for
 * longer.
 */
static void *create_for_ever(void *stop)
{
	while (!*(volatile bool *)stop)
		must_eq(ibv_unreg_xrc_rcv_qp(end.domain, receive_qp(end.domain)), 0);
	return NULL;
}

static void cancel_many(int type, int times)
{
	struct victim victim = { .type = type };
	volatile bool stop = false;
	pid_t injectors[3];
	pthread_t creator;

	for (int i = 0; i < 3; i++)
		injectors[i] = keep_injecting();
	creator = start(create_for_ever, (void *)&stop);
	srandom(20080204);
	for (int i = 0; i < times || (!got && i < 100 * times); i++) {
		pthread_t thread = start(get_for_ever, &victim);

		usleep((unsigned)(random() % 5000));
		cancel(thread);
	}
	for (int i = 0; i < 3; i++) {
		must(!kill(injectors[i], SIGKILL));
		must(waitpid(injectors[i], NULL, 0) == injectors[i]);
	}
	stop = true;
	must(!pthread_join(creator, NULL));
	must(got > 0);
}

ROW("a thread that is cancelled while events arrive leaves no lock held")
{
	cancel_many(PTHREAD_CANCEL_DEFERRED, 50);
}

static void *destroy_srq_cancelled(void *unused)
{
	/* The first cancellation point that takes effect is the wait. */
	pthread_cancel(pthread_self());
	ibv_destroy_srq(end.srq);
	return unused;
}

/* Contract 1.3: ibv_destroy_srq waits until every event is acknowledged. */
ROW("an ibv_destroy_srq that is cancelled while it waits can be repeated")
{
	struct ibv_async_event event;
	void *result;

	inject_event(0, "srq_limit_reached", end.own.srq_num);
	event = end_event(&end);
	must(event.element.srq == end.srq);
	must(!pthread_join(start(destroy_srq_cancelled, NULL), &result));
	must(result == PTHREAD_CANCELED);
	ibv_ack_async_event(&event);
}

#undef GROUP
#define GROUP "asynchronous"

ROW("a thread cancelled asynchronously while events arrive leaves no lock held")
{
	cancel_many(PTHREAD_CANCEL_ASYNCHRONOUS, 200);
}

/* Contract 1.4 and 5.8. */
ROW("after two asynchronous cancellations a waiting thread gets its event")
{
	struct victim victims[2] = { { .type = PTHREAD_CANCEL_ASYNCHRONOUS },
				     { .type = PTHREAD_CANCEL_ASYNCHRONOUS } };
	struct waiter waiter = { 0 };
	pthread_t threads[2], waiting;

	threads[0] = start(get_for_ever, &victims[0]);
	await_sleep(&victims[0].thread);
	waiting = start_waiting(&waiter);
	threads[1] = start(get_for_ever, &victims[1]);
	await_sleep(&victims[1].thread);
	for (int i = 0; i < 2; i++)
		cancel(threads[i]);
	must_get(waiting, &waiter);
	must_eq(got, 0);
}
