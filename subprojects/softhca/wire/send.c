/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Work requests: executed in order, retried, given up. */
#include "wire.h"

#define BURST	     64 /* requests of one QP in one turn */
#define BURST_BYTES  ((uint64_t)1 << 20)
#define RNR_FOREVER  7
/* ns between two attempts of a QP whose timeout is 0 = infinite */
#define NO_TIMEOUT_RETRY (67u * 1000 * 1000)
/* ns; a network between machines is slow rather than lossy: to send again early would not help */
#define LEAST_PATIENCE (500ull * 1000 * 1000)
#define MOST_PATIENCE (4000ull * 1000 * 1000)

/* ---- retries ---- */

/* InfiniBand Architecture Specification, table of RNR NAK timer values; microseconds. */
static const uint32_t rnr_delay[32] = {
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320,
	480, 640, 960, 1280, 1920, 2560, 3840, 5120, 7680, 10240, 15360,
	20480, 30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

static uint64_t answer_timeout(const struct hca_qp *qp)
{
	return qp->attr.timeout ? 4096ull << qp->attr.timeout : NO_TIMEOUT_RETRY;
}

static void retry_expired(struct timer *timer);

/*
 * A running timer keeps its deadline. It runs if an attempt before the deadline was in vain, or if
 * an earlier piece has no answer.
 */
static void start_retry(struct hca_qp *qp, uint64_t nanoseconds)
{
	if (timer_running(&qp->send.retry))
		return;
	qp->send.retry.expired = retry_expired;
	timer_start(&qp->device->machine->timers, &qp->send.retry, hca_now() + nanoseconds);
}

static void wait_for(struct hca_qp *qp, uint64_t nanoseconds)
{
	qp->send.waiting = true;
	start_retry(qp, nanoseconds);
}

/* The sender has used all attempts. Its QP fails; the peer gets no message. */
static void give_up(struct hca_qp *qp, const struct wqe *wqe, enum syndrome syndrome)
{
	sq_settle(qp);
	sq_complete(qp, wqe, (uint8_t)syndrome);
	if (qp->type == IBV_QPT_UC || qp->type == IBV_QPT_UD) {
		qp->state = IBV_QPS_SQE;
		sq_flush(qp);
	} else {
		qp_fail(qp);
	}
}

static void retry_expired(struct timer *timer)
{
	struct hca_qp *qp = container_of(timer, struct hca_qp, send.retry);
	bool unanswered = !list_empty(&qp->send.unanswered);

	away_recall(qp);
	list_del(&qp->send.unanswered);
	qp->send.waiting = false;
	qp->device->machine->active = true;
	/* retry_cnt repetitions, for ever if the timeout is 0. Then an armed alternate path. */
	if (unanswered && qp->attr.timeout && ++qp->send.lost > qp->attr.retry_cnt &&
	    !path_migrate(qp))
		give_up(qp, NULL, SYNDROME_RETRY_EXCEEDED);
	else
		sq_kick(qp);
}

static void not_ready(struct hca_qp *qp, const struct attempt *attempt)
{
	const uint8_t timer =
		attempt->peer ? attempt->peer->attr.min_rnr_timer : attempt->rnr_timer;

	timer_stop(&qp->send.retry);
	if (qp->attr.rnr_retry != RNR_FOREVER && ++qp->send.not_ready > qp->attr.rnr_retry)
		give_up(qp, attempt->wqe, SYNDROME_RNR_EXCEEDED);
	else
		wait_for(qp, 1000ull * rnr_delay[timer & 31]);
}

/* ---- execution ---- */

void send_fail_peer(const struct attempt *attempt)
{
	if (!attempt->peer_fails)
		return;
	qp_fail(attempt->peer);
	if (attempt->event >= 0)
		event_qp(attempt->peer, (enum ibv_event_type)attempt->event);
}

/* A piece has arrived: patience begins anew. */
static void advance(struct hca_qp *qp, uint64_t bytes)
{
	uint64_t sent = qp->send.sent + bytes;

	sq_settle(qp);
	qp->send.sent = sent;
	qp->send.started = true;
}

static bool delayed(struct hca_qp *qp)
{
	struct faults *faults = &qp->device->faults;

	if (qp->send.delayed || !fault_strikes(faults, FAULT_DELAY))
		return false;
	qp->send.delayed = true;
	wait_for(qp, 1000ull * faults->delay);
	return true;
}

/*
 * Reads and atomics that were posted together follow one another without an answer, as far as the
 * QP's own resources reach. Any other request comes late enough for their answers.
 */
static void count_reads(struct hca_qp *qp, const struct wqe *wqe)
{
	bool reads = operation_changes_sender(wqe);

	if (wqe->fence || !reads)
		qp->send.reading = 0;
	if (reads && !qp->send.sent && qp->send.reading < model_pow2(qp->attr.max_rd_atomic))
		qp->send.reading++;
}

/*
 * Resending slows a slow network further, so the wait is twice what the last answer took. Until the
 * first answer each repetition waits twice as long.
 */
static uint64_t far_timeout(const struct hca_qp *qp)
{
	const uint64_t timeout = answer_timeout(qp), round_trip = qp->send.away->round_trip;
	uint64_t patience = 2 * round_trip;

	if (patience < LEAST_PATIENCE)
		patience = LEAST_PATIENCE;
	for (unsigned int i = 0; !round_trip && i < qp->send.lost && patience < MOST_PATIENCE; i++)
		patience *= 2;
	if (patience > MOST_PATIENCE)
		patience = MOST_PATIENCE;
	return timeout > patience ? timeout : patience;
}

void send_await(struct hca_qp *qp)
{
	if (list_empty(&qp->send.unanswered))
		list_add(&qp->device->machine->unanswered, &qp->send.unanswered);
	start_retry(qp, far_timeout(qp));
}

/* A piece is on its way. The next piece, or the next request, may follow. */
static void go_on(struct hca_qp *qp, const struct attempt *attempt)
{
	qp->send.sent = attempt->last ? 0 : qp->send.sent + attempt->part;
	send_await(qp);
}

bool send_conclude(struct hca_qp *qp, struct attempt *attempt, enum outcome outcome)
{
	switch (outcome) {
	case PART:
		advance(qp, attempt->part);
		if (attempt->sender_fails)
			qp_fail(qp);
		return true;
	case SENT:
		sq_settle(qp);
		sq_complete(qp, attempt->wqe, SYNDROME_OK);
		if (attempt->sender_fails)
			qp_fail(qp);
		return true;
	case AWAY:
		go_on(qp, attempt);
		return true;
	case HELD:
		list_add(&qp->device->machine->held, &qp->send.held);
		return false;
	case LOST:
		list_del(&qp->send.unanswered);
		list_add(&qp->device->machine->unanswered, &qp->send.unanswered);
		wait_for(qp, answer_timeout(qp));
		return false;
	case NOT_READY:
		list_del(&qp->send.unanswered);
		not_ready(qp, attempt);
		return false;
	default:
		/* The sender completes first: a QP may be its own peer, which would flush it. */
		give_up(qp, attempt->wqe, attempt->syndrome);
		send_fail_peer(attempt);
		return false;
	}
}

/* In SQD no message begins. One that has begun goes on. */
static bool must_wait(const struct hca_qp *qp, uint32_t slot)
{
	return qp->state == IBV_QPS_SQD && away_count(qp) && !qp->send.sent &&
	       (int32_t)(slot - qp->send.away->begun) >= 0;
}

/* Executes a request, or a piece of it. True, after *bytes, if more may follow at once. */
static bool execute(struct hca_qp *qp, uint64_t *bytes)
{
	/* one thread serves, and this is too large for the stack of a loop */
	static struct wqe wqe;
	struct attempt attempt = { .qp = qp, .wqe = &wqe, .event = -1 };
	const uint32_t slot = sq_next(qp);
	enum syndrome syndrome = sq_fetch(qp, slot, &wqe);
	enum outcome outcome;

	if (must_wait(qp, slot) || (syndrome && away_count(qp)))
		return send_conclude(qp, &attempt, HELD);
	qp->send.started = true;
	if (syndrome) {
		give_up(qp, &wqe, syndrome);
		return false;
	}
	if (!away_count(qp) && delayed(qp))
		return false;
	qp->send.delayed = false;
	count_reads(qp, &wqe);
	outcome = transport_execute(&attempt);
	*bytes = attempt.part;
	/*
	 * Nothing was executed: it is a NOP, the sender is in error, or no peer answers on the path
	 * that the QP has migrated to. Its completion would come before those of requests that are
	 * away.
	 */
	if (outcome != AWAY && away_count(qp))
		outcome = HELD;
	return send_conclude(qp, &attempt, outcome);
}

static void run(struct hca_qp *qp)
{
	uint64_t moved = 0, bytes = 0;

	list_del(&qp->send.ready);
	qp->send.reading = 0;
	for (int left = BURST;
	     left > 0 && moved < BURST_BYTES && sq_may_execute(qp) && sq_posted(qp); left--) {
		if (!execute(qp, &bytes))
			break;
		moved += bytes;
	}
	if (qp->state == IBV_QPS_SQD)
		sq_drain(qp);
	/* The others first; what is left has its next turn. */
	sq_kick(qp);
}

bool send_run(struct hca_machine *machine)
{
	struct list turn;

	if (list_empty(&machine->ready))
		return false;
	/* A turn serves the QPs that were ready when it began. */
	list_init(&turn);
	while (!list_empty(&machine->ready)) {
		struct list *node = machine->ready.next;

		list_del(node);
		list_add(&turn, node);
	}
	while (!list_empty(&turn))
		run(container_of(turn.next, struct hca_qp, send.ready));
	machine->active = true;
	return !list_empty(&machine->ready);
}
