/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Threads that wait in ibv_get_async_event: several at once, with signals, and while others call
 * verbs.
 */

#define GROUP "thread"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "events.h"

/* ---- two threads on one device ---- */

struct reader {
	struct end *end;
	int got;
};

/* Reads events until the port's. */
static void *get_until_port(void *arg)
{
	struct reader *reader = arg;

	for (;;) {
		struct ibv_async_event event;

		must_eq(ibv_get_async_event(reader->end->context, &event), 0);
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_PORT_ACTIVE)
			return NULL;
		must_eq((uint32_t)event.event_type, flagged(IBV_EVENT_PATH_MIG));
		__atomic_add_fetch(&reader->got, 1, __ATOMIC_RELAXED);
	}
}

ROW("two threads get each event once between them")
{
	struct end end;
	struct reader reader = { .end = &end };
	pthread_t threads[2];
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	for (int i = 0; i < 2; i++)
		threads[i] = events_start(get_until_port, &reader);
	for (int i = 0; i < 20; i++)
		inject_event(0, "path_mig", qp_num);
	for (int i = 0; i < 2; i++)
		inject_event(0, "port_active", 1);
	for (int i = 0; i < 2; i++)
		must(!pthread_join(threads[i], NULL));
	must_eq(reader.got, 20);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}

ROW("while a thread waits for events, another creates, registers and destroys objects")
{
	struct end end, other;
	struct waiter waiter = { .end = &end };
	pthread_t thread;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	thread = events_start_waiting(&waiter);
	for (int i = 0; i < 5; i++) {
		qp_num = receive_qp(end.domain);
		must_eq(ibv_reg_xrc_rcv_qp(end.domain, qp_num), 0);
		end_create_qp(&end, 4);
		end_open(&other, 0, -1, false);
		end_close(&other);
		must_eq(ibv_destroy_qp(end.qp), 0);
		must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	}
	end.qp = NULL;
	must(!waiter.done);
	inject_event(0, "port_active", 1);
	must(!pthread_join(thread, NULL));
	must_eq(waiter.event.event_type, IBV_EVENT_PORT_ACTIVE);
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

/*
 * Old programs waited in read(2), which goes on after a handler with SA_RESTART; profilers and
 * launchers rely on it.
 */
ROW("a signal handler with SA_RESTART does not end the wait")
{
	const struct sigaction backtrace = { .sa_handler = count_signal,
					     .sa_flags = (int)SA_RESETHAND };
	struct end end;
	struct waiter waiter = { .end = &end };
	pthread_t thread;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	handle_signal(SA_RESTART);
	/*
	 * MPI libraries have such a handler for a backtrace. The library must not take it for a
	 * handler that ends waits.
	 */
	must(!sigaction(SIGSEGV, &backtrace, NULL));
	thread = events_start_waiting(&waiter);
	for (int i = 1; i <= 3; i++) {
		must(!pthread_kill(thread, SIGUSR1));
		while (signals < i)	/* the row's time limit ends this */
			usleep(500);
		usleep(20000);		/* a wrong return would come within this time */
		must(!waiter.done);
		must_eq(signals, i);
	}
	inject_event(0, "path_mig", qp_num);
	must(!pthread_join(thread, NULL));
	must_eq(waiter.result, 0);
	must_eq(event_number(&waiter.event), qp_num);
}

static void interrupted_by(int flags)
{
	struct end end;
	struct waiter waiter = { .end = &end };
	pthread_t thread;

	end_open(&end, 0, -1, false);
	handle_signal(flags);
	thread = events_start_waiting(&waiter);
	must(!pthread_kill(thread, SIGUSR1));
	must(!pthread_join(thread, NULL));
	must_eq(waiter.result, -1);
	must_eq(waiter.err, EINTR);
	must_eq(signals, 1);
	end_close(&end);
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

/* ---- the device is closed meanwhile ---- */

/* Old programs end an event thread so: its ibv_get_async_event fails. */
ROW("closing a device ends the wait for its events with an error")
{
	struct end end, next;
	struct waiter waiter = { .end = &end };
	pthread_t thread;

	end_open(&end, 0, -1, false);
	thread = events_start_waiting(&waiter);
	end_close(&end);
	must(!pthread_join(thread, NULL));
	must_eq(waiter.result, -1);
	/* The library returns EIO. Another errno would come from the freed context. */
	must_eq(waiter.err, EIO);
	end_open(&next, 0, -1, false);
	end_no_event(&next, 0);
	end_close(&next);
}

/* ---- QPs are created and destroyed while their events are handled ---- */

static void *handle_without_flag(void *arg)
{
	struct reader *reader = arg;

	for (;;) {
		struct ibv_async_event event;

		must_eq(ibv_get_async_event(reader->end->context, &event), 0);
		if (event.event_type == IBV_EVENT_PORT_ACTIVE)
			return NULL;
		must_eq((uint32_t)event.event_type, flagged(IBV_EVENT_COMM_EST));
		event.event_type ^= IBV_XRC_QP_EVENT_FLAG;
		ibv_ack_async_event(&event);
		__atomic_add_fetch(&reader->got, 1, __ATOMIC_RELAXED);
	}
}

ROW("QPs are created and destroyed while their events are handled")
{
	struct end end;
	struct reader reader = { .end = &end };
	pthread_t thread;

	end_open(&end, 0, -1, false);
	thread = events_start(handle_without_flag, &reader);
	for (int i = 0; i < 50 || (!__atomic_load_n(&reader.got, __ATOMIC_RELAXED) && i < 5000);
	     i++) {
		uint32_t qp_num = receive_qp(end.domain);

		end_create_qp(&end, 4);
		connect_to_itself(&end, qp_num);
		receive_through(&end, qp_num);
		/* The handler thread has read the event, is about to read it, or never reads it. */
		must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
		must_eq(ibv_destroy_qp(end.qp), 0);
	}
	end.qp = NULL;
	inject_event(0, "port_active", 1);
	must(!pthread_join(thread, NULL));
	must(reader.got > 0);
	end_close(&end);
}

struct ending {
	struct ibv_qp *qp;
	volatile int result, done;
};

static void *destroy_it(void *arg)
{
	struct ending *ending = arg;

	ending->result = ibv_destroy_qp(ending->qp);
	ending->done = 1;
	return NULL;
}

/* The events of a sending QP have no flag. Two events need two acknowledgements. */
ROW("destroying a sending QP waits for every acknowledgement, and blocks no other reader")
{
	struct ibv_async_event events[2], other;
	struct ending ending;
	pthread_t thread;
	struct end end;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	end_create_qp(&end, 16);
	ending = (struct ending){ .qp = end.qp };
	for (int i = 0; i < 2; i++) {
		inject_event(0, "path_mig", end.own.qp_num);
		events[i] = end_event(&end);
		must_eq(events[i].event_type, IBV_EVENT_PATH_MIG);
		must(events[i].element.qp == end.qp);
	}
	ibv_ack_async_event(&events[0]);
	thread = events_start(destroy_it, &ending);
	usleep(20000);		/* a wrong return would come within this time */
	must(!ending.done);
	inject_event(0, "path_mig", qp_num);
	other = end_event(&end);
	must_eq(event_number(&other), qp_num);
	must(!ending.done);
	ibv_ack_async_event(&events[1]);
	must(!pthread_join(thread, NULL));
	must_eq(ending.result, 0);
	end.qp = NULL;
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}
