/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Answers from another machine. Each is for the oldest piece that its QP has away. */
#include "far.h"
#include "wire.h"

static const struct hca_flight *oldest(const struct hca_away *away)
{
	return &away->flight[away->first];
}

/* What came back goes where the request, which is read once more, wants it. */
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
static void land(struct hca_qp *qp, const struct wqe *wqe)
{
	struct hca_away *away = qp->away;
	const struct hca_flight flight = *oldest(away);

	timer_stop(&qp->retry);
	list_del(&qp->unanswered);
	qp->lost = qp->not_ready = 0;
	qp->waiting = false;
	qp->attr.sq_psn = (qp->attr.sq_psn + flight.packets) & PSN_MASK;
	away->packets -= flight.packets;
	away->first = (away->first + 1) % HCA_FLIGHTS;
	away->count--;
	away->again -= away->again > 0;
	away->held = false;
	if (flight.last) {
		away->slots -= flight.slots;
		sq_complete(qp, wqe, SYNDROME_OK);
	}
	qp->started = away->count || qp->sent;
	if (away->count)
		send_await(qp);
	if (qp->state == IBV_QPS_SQD)
		sq_drain(qp);
	sq_kick(qp);
}

/* The QP that waits for this answer before all others, or NULL. */
static struct hca_qp *asker(int home, const struct far_answer *answer)
{
	uint8_t port;
	const struct hca_device *device =
		far_here() ? machine_route(far_here(), answer->slid, &port) : NULL;
	struct hca_qp *qp = device ? device_qp(device, answer->qpn) : NULL;

	return qp && device->port[port].active && sq_away(qp) &&
			       oldest(qp->away)->tag == answer->tag &&
			       far_home(qp->attr.dest.dlid) == home
		       ? qp
		       : NULL;
}

static void conclude(struct hca_qp *qp, const struct far_answer *answer, size_t bytes)
{
	static struct wqe wqe; /* the daemon has one thread */
	const struct hca_flight *flight = oldest(qp->away);
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

	/* The program has overwritten its request. */
	if (broken)
		outcome = operation_fail(&attempt, broken);
	if ((outcome == PART || outcome == SENT) && flight->reads &&
	    (bytes != flight->part || !store(&attempt, answer + 1)))
		outcome = operation_fail(&attempt, SYNDROME_LOCAL_PROT);
	if (outcome == PART || outcome == SENT) {
		land(qp, &wqe);
		return;
	}
	sq_recall(qp);
	send_conclude(qp, &attempt, outcome);
}

void far_take_answer(int home, const void *body, size_t length)
{
	const struct far_answer *answer = body;
	struct hca_qp *qp;

	if (length < sizeof(*answer))
		return;
	qp = asker(home, answer);
	if (!qp || (answer->outcome != PART && answer->outcome != SENT &&
		    answer->outcome != NOT_READY && answer->outcome != FAILED))
		return;
	far_here()->active = true;
	if (answer->path_mig_state == IBV_MIG_ARMED && qp->attr.path_mig_state != IBV_MIG_MIGRATED)
		qp->attr.path_mig_state = IBV_MIG_ARMED;
	conclude(qp, answer, length - sizeof(*answer));
}
