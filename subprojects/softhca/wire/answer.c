/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Answers from another machine. Each also acknowledges the earlier writes and sends. */
#include "far.h"
#include "wire.h"

/* Writes the answer's bytes where the request says. The request has been read again. */
static bool store(struct attempt *attempt, const void *bytes)
{
	struct mem_vec from;

	if (!operation_local_side(attempt))
		return false;
	mem_vec_init(&from, NULL);
	mem_vec_add(&from, (uint64_t)(uintptr_t)bytes, (size_t)attempt->part);
	mem_vec_seek(&attempt->local, attempt->offset);
	return mem_copy(&attempt->local, &from, attempt->part) == MEM_OK;
}

/* The oldest piece has arrived. */
static void ack_oldest(struct hca_qp *qp, const struct wqe *wqe)
{
	const struct hca_flight flight = away_take(qp);

	timer_stop(&qp->send.retry);
	list_del(&qp->send.unanswered);
	qp->send.lost = qp->send.not_ready = 0;
	qp->send.waiting = false;
	qp->attr.sq_psn = (qp->attr.sq_psn + flight.packets) & PSN_MASK;
	list_del(&qp->send.held);
	if (flight.last)
		sq_complete(qp, wqe, SYNDROME_OK);
	qp->send.started = away_count(qp) || qp->send.sent;
	if (away_count(qp))
		send_await(qp);
	if (qp->state == IBV_QPS_SQD)
		sq_drain(qp);
	sq_kick(qp);
}

/* The QP that has asked, or NULL. */
static struct hca_qp *asker(int machine, const struct far_answer *answer)
{
	uint8_t port;
	const struct hca_device *device =
		far_here() ? machine_route(far_here(), answer->slid, &port) : NULL;
	struct hca_qp *qp = device ? qp_find(device, answer->qpn) : NULL;

	return qp && device->port[port].active && away_count(qp) &&
			       far_machine(qp->attr.dest.dlid) == machine
		       ? qp
		       : NULL;
}

static void conclude(struct hca_qp *qp, const struct far_answer *answer, size_t bytes)
{
	static struct wqe wqe; /* one thread serves */
	const struct hca_flight *flight = away_flight(qp, 0);
	struct attempt attempt = {
		.qp = qp,
		.wqe = &wqe,
		.event = -1,
		.offset = flight->offset,
		.part = flight->part,
		.last = flight->last,
		.rnr_timer = answer->rnr_timer,
		.syndrome = answer->syndrome,
	};
	enum outcome outcome = (enum outcome)answer->outcome;
	enum syndrome broken = sq_fetch(qp, qp->sq.next, &wqe);

	/* The program has overwritten the request, whose size says where the next one begins. */
	if (broken || wqe.slots != flight->slots)
		outcome = operation_fail(&attempt, broken ? broken : SYNDROME_LOCAL_QP_OP);
	if ((outcome == PART || outcome == SENT) && flight->reads &&
	    (bytes != flight->part || !store(&attempt, answer + 1)))
		outcome = operation_fail(&attempt, SYNDROME_LOCAL_PROT);
	if (outcome == PART || outcome == SENT) {
		ack_oldest(qp, &wqe);
		return;
	}
	away_recall(qp);
	send_conclude(qp, &attempt, outcome);
}

/*
 * The answer to the piece with this tag acknowledges all pieces before it, too. False: no piece has
 * the tag, or an earlier read or atomic has no answer.
 */
static bool ack_earlier(struct hca_qp *qp, uint64_t tag)
{
	const struct far_answer arrived = { .outcome = SENT };
	unsigned int before = 0;

	while (before < away_count(qp) && away_flight(qp, before)->tag != tag) {
		if (away_flight(qp, before++)->reads)
			return false;
	}
	if (before == away_count(qp))
		return false;
	while (before-- && away_count(qp))
		conclude(qp, &arrived, 0);
	return away_count(qp);
}

/* Whether an honest daemon could have sent it. */
static bool is_sound(const struct far_answer *answer)
{
	return answer->outcome == PART || answer->outcome == SENT || answer->outcome == NOT_READY ||
	       (answer->outcome == FAILED && answer->syndrome != SYNDROME_OK);
}

void far_take_answer(int machine, const void *body, size_t length)
{
	const struct far_answer *answer = body;
	struct hca_qp *qp;

	if (length < sizeof(*answer) || !is_sound(answer))
		return;
	qp = asker(machine, answer);
	if (!qp || !ack_earlier(qp, answer->tag))
		return;
	far_here()->active = true;
	if (answer->path_mig_state == IBV_MIG_ARMED && qp->attr.path_mig_state != IBV_MIG_MIGRATED)
		qp->attr.path_mig_state = IBV_MIG_ARMED;
	conclude(qp, answer, length - sizeof(*answer));
}
