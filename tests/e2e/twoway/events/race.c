/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * In each round an event is raised, its object is destroyed while another thread is about to read
 * the event, and that thread is cancelled. If the thread were blocked in a read for an event that
 * is gone, pthread_join() would never return.
 *
 * EVENT_RACE_ROUNDS: rounds of each row, of all its contexts together. If it is not set, each
 * row runs for 0.25 s, and longer until a reader has read one event. (A busy machine does six
 * rounds per second.)
 */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "../receiver.h"

#define CONTEXTS 4
#define PATIENCE_S 20

enum reader { BLOCKS, POLLS_FIRST, ASYNCHRONOUS };

struct party {
	struct end end;
	void (*round)(struct party *party);
	enum reader reader;
	unsigned seed;
};

static struct {
	long long rounds, limit;	/* limit 0: until the deadline */
	double deadline;
	int got;
} race;

static void *read_events(void *arg)
{
	struct party *party = arg;
	struct pollfd pollfd = { .fd = party->end.context->async_fd, .events = POLLIN };

	if (party->reader == ASYNCHRONOUS)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		struct ibv_async_event event;

		if (party->reader == POLLS_FIRST)
			must_eq(poll(&pollfd, 1, -1), 1);
		must_eq(ibv_get_async_event(party->end.context, &event), 0);
		__atomic_add_fetch(&race.got, 1, __ATOMIC_RELAXED);
		ibv_ack_async_event(&event);
	}
	return NULL;
}

static void linger(struct party *party)
{
	for (volatile int i = rand_r(&party->seed) % 20000; i > 0; i--)
		;
}

/* ---- a receive QP: COMM_EST; and an XRC SRQ: SRQ_LIMIT_REACHED ---- */

static uint32_t connected_rcv_qp(struct party *party)
{
	uint32_t qp_num = receive_qp(party->end.domain);

	end_create_qp(&party->end, 4);
	connect_to_itself(&party->end, qp_num);
	return qp_num;
}

static void rcv_qp_round(struct party *party)
{
	uint32_t qp_num = connected_rcv_qp(party);

	receive_through(&party->end, qp_num);
	linger(party);
	must_eq(ibv_unreg_xrc_rcv_qp(party->end.domain, qp_num), 0);
	end_destroy_qp(&party->end);
}

static void srq_round(struct party *party)
{
	struct ibv_srq_init_attr init_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_attr attr = { .srq_limit = 1 };
	uint32_t qp_num = connected_rcv_qp(party);
	struct ibv_srq *first = party->end.srq;

	party->end.srq =
		ibv_create_xrc_srq(party->end.pd, party->end.domain, party->end.cq, &init_attr);
	must(party->end.srq);
	party->end.peer.srq_num = party->end.srq->xrc_srq_num;
	must_eq(ibv_modify_srq(party->end.srq, &attr, IBV_SRQ_LIMIT), 0);
	receive_through(&party->end, qp_num);
	linger(party);
	must_eq(ibv_destroy_srq(party->end.srq), 0);
	party->end.srq = first;
	must_eq(ibv_unreg_xrc_rcv_qp(party->end.domain, qp_num), 0);
	end_destroy_qp(&party->end);
}

/* ---- rounds ---- */

static bool was_read(void)
{
	return __atomic_load_n(&race.got, __ATOMIC_RELAXED) > 0;
}

static bool another_round(void)
{
	long long done = __atomic_fetch_add(&race.rounds, 1, __ATOMIC_RELAXED);

	return race.limit ? done < race.limit
			  : seconds() < race.deadline ||
				    (!was_read() && seconds() < race.deadline + PATIENCE_S);
}

static void *compete(void *arg)
{
	struct party *party = arg;
	pthread_t reader;

	while (another_round()) {
		alarm(PATIENCE_S);
		reader = start_thread(read_events, party);
		party->round(party);
		must(!pthread_cancel(reader));
		join_thread(reader);
	}
	return NULL;
}

static void run_race(void (*round)(struct party *party), enum reader reader)
{
	const char *limit = getenv("EVENT_RACE_ROUNDS");
	struct party parties[CONTEXTS];
	pthread_t threads[CONTEXTS];

	race.limit = limit ? atoll(limit) : 0;
	race.deadline = seconds() + 0.25;
	for (int i = 0; i < CONTEXTS; i++) {
		parties[i] = (struct party){ .round = round,
					     .reader = reader,
					     .seed = (unsigned)i };
		end_open(&parties[i].end, 0, -1, false);
		threads[i] = start_thread(compete, &parties[i]);
	}
	for (int i = 0; i < CONTEXTS; i++) {
		join_thread(threads[i]);
		end_close(&parties[i].end);
	}
	must(was_read());
}

#define ROWS_OF(what, round) \
	ROW("a reader that polls first can be cancelled after " what " is destroyed") \
		{ run_race(round, POLLS_FIRST); } \
	ROW("a reader that blocks can be cancelled after " what " is destroyed") \
		{ run_race(round, BLOCKS); }

ROWS_OF("a receive QP", rcv_qp_round)
ROWS_OF("an XRC SRQ", srq_round)

/* MVAPICH and MVAPICH2 end their event threads so. A lock that is left held ends the next round. */
ROW("a reader that is cancelled asynchronously while a receive QP is destroyed leaves no lock held")
{
	run_race(rcv_qp_round, ASYNCHRONOUS);
}
