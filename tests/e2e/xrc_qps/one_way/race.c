/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * In each round events are raised, their objects are destroyed while another thread is about to
 * read them, and that thread is cancelled. If the thread were blocked in a read for an event that
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

#include "receiver.h"

#define CONTEXTS 4
#define PATIENCE_S 20

enum reader { BLOCKS, POLLS_FIRST, ASYNCHRONOUS };

struct party {
	struct side side;
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
	struct pollfd pollfd = { .fd = party->side.context->async_fd, .events = POLLIN };

	if (party->reader == ASYNCHRONOUS)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;) {
		struct ibv_async_event event;

		if (party->reader == POLLS_FIRST)
			must_eq(poll(&pollfd, 1, -1), 1);
		must_eq(ibv_get_async_event(party->side.context, &event), 0);
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

/* A receive QP with the event COMM_EST, and an XRC SRQ with SRQ_LIMIT_REACHED. */
static void round_of(struct party *party)
{
	struct side *own = &party->side;
	struct ibv_srq_init_attr init_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_attr attr = { .srq_limit = 1 };
	struct ibv_srq *first = own->srq;
	uint32_t qp_num = receive_qp(own->domain);
	bool srq_first = rand_r(&party->seed) & 1;

	side_create_qp(own, 4);
	connect_to_itself(own, qp_num);
	own->srq = ibv_create_xrc_srq(own->pd, own->domain, own->cq, &init_attr);
	must(own->srq);
	own->peer.srq_num = own->srq->xrc_srq_num;
	must_eq(ibv_modify_srq(own->srq, &attr, IBV_SRQ_LIMIT), 0);
	receive_through(own, qp_num);
	linger(party);
	if (srq_first)
		must_eq(ibv_destroy_srq(own->srq), 0);
	end_receive_qp(own->domain, qp_num);
	if (!srq_first)
		must_eq(ibv_destroy_srq(own->srq), 0);
	own->srq = first;
	side_destroy_qp(own);
}

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
		round_of(party);
		must(!pthread_cancel(reader));
		join_thread(reader);
	}
	return NULL;
}

static void run_race(enum reader reader)
{
	const char *limit = getenv("EVENT_RACE_ROUNDS");
	struct party parties[CONTEXTS];
	pthread_t threads[CONTEXTS];

	race.limit = limit ? atoll(limit) : 0;
	race.deadline = seconds() + 0.25;
	for (int i = 0; i < CONTEXTS; i++) {
		parties[i] = (struct party){ .reader = reader, .seed = (unsigned)i };
		side_open(&parties[i].side, 0, -1, false);
		threads[i] = start_thread(compete, &parties[i]);
	}
	for (int i = 0; i < CONTEXTS; i++) {
		join_thread(threads[i]);
		side_close(&parties[i].side);
	}
	must(was_read());
}

ROW("a reader that polls first can be cancelled after a receive QP and an SRQ are destroyed")
{
	run_race(POLLS_FIRST);
}

ROW("a reader that blocks can be cancelled after a receive QP and an SRQ are destroyed")
{
	run_race(BLOCKS);
}

/* MVAPICH and MVAPICH2 end their event threads so. A lock that is left held ends the next round. */
ROW("an asynchronously cancelled reader leaves no lock held while a QP and an SRQ are destroyed")
{
	run_race(ASYNCHRONOUS);
}
