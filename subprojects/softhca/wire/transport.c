/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* One work request on the wire. The answer is known when the request is delivered. */
#include "wire.h"

#define PSN_HALF 0x800000u /* numbers wrap: one that seems to be so far behind is ahead */

/* ---- the way to the peer ---- */

/* The peer acknowledges to the QP that it is connected to, which may not be the one that asked. */
static bool is_answered(const struct hca_qp *qp, const struct hca_qp *peer)
{
	return peer->attr.dest_qpn == qp->qpn && (path_used(qp, peer) || path_offered(qp, peer));
}

static void established(struct hca_qp *peer)
{
	if (peer->state != IBV_QPS_RTR || peer->recv.communicating)
		return;
	peer->recv.communicating = true;
	event_qp(peer, IBV_EVENT_COMM_EST);
}

/* ---- the three kinds of transport ---- */

static bool arrived(enum outcome outcome)
{
	return outcome == SENT || outcome == PART;
}

/*
 * The receiving process has ended: its memory is gone, and its QPs stay until the daemon hears of
 * the end. Until then a request gets no answer rather than an error. An XRC target outlives its
 * processes, their SRQs do not.
 */
static bool receiver_gone(const struct attempt *attempt)
{
	struct recv_queue queue;

	return recv_queue_of(attempt->peer, attempt->wqe->srqn, &queue) && queue.ctx &&
	       mem_gone(queue.ctx);
}

/*
 * A packet reaches its receiver. One that is behind is a repetition. One that is ahead is dropped.
 * The sender would ignore a NAK, because it names a packet that was not sent.
 */
static enum outcome receive(struct attempt *attempt)
{
	struct hca_qp_attr *theirs = &attempt->peer->attr;
	uint32_t behind = (theirs->rq_psn - attempt->qp->attr.sq_psn) & PSN_MASK;
	enum outcome outcome;

	mem_vec_seek(&attempt->local, attempt->offset);
	if (behind >= PSN_HALF)
		return LOST;
	/* A request of 0 bytes does not touch the memory, which would show that it is gone. */
	if (!attempt->part && receiver_gone(attempt))
		return LOST;
	if (!behind)
		established(attempt->peer);
	outcome = behind ? operation_repeat(attempt) : operation_execute(attempt);
	if (!arrived(outcome) && receiver_gone(attempt))
		return LOST;
	if (!behind && arrived(outcome))
		theirs->rq_psn = (theirs->rq_psn + operation_packets(attempt)) & PSN_MASK;
	attempt->peer->recv.msn += !behind && outcome == SENT;
	return outcome;
}

/* A request that has not been lost arrives, and is answered. */
static enum outcome meet(struct attempt *attempt)
{
	enum outcome outcome = receive(attempt);

	tap_answer(attempt, outcome);
	return outcome;
}

static enum outcome execute_reliable(struct attempt *attempt)
{
	struct hca_qp *qp = attempt->qp;
	struct hca_qp *peer;
	enum outcome outcome;

	if (far_is_peer(qp))
		return far_send(attempt);
	peer = path_peer(qp, qp->attr.dest.dlid, qp->attr.dest_qpn);
	tap_request(attempt);
	if (!peer || !is_answered(qp, peer) || fault_strikes(&qp->device->faults, FAULT_DROP))
		return LOST;
	attempt->peer = peer;
	path_met(qp, peer);
	outcome = meet(attempt);
	if (arrived(outcome) && fault_strikes(&qp->device->faults, FAULT_DUPLICATE)) {
		tap_request(attempt);
		meet(attempt);
	}
	/* A refusal always arrives, because it also fails the peer's QP. */
	if ((arrived(outcome) || outcome == NOT_READY) &&
	    fault_strikes(&peer->device->faults, FAULT_DROP))
		return LOST;
	if (arrived(outcome))
		qp->attr.sq_psn = (qp->attr.sq_psn + operation_packets(attempt)) & PSN_MASK;
	return outcome;
}

/* A message begins with any sequence number. Its further packets must follow it. */
static bool continues(const struct attempt *attempt)
{
	return !attempt->offset || attempt->peer->attr.rq_psn == attempt->qp->attr.sq_psn;
}

static enum outcome deliver_unreliable(struct attempt *attempt)
{
	struct hca_qp *qp = attempt->qp;
	enum outcome outcome;
	bool twice;

	path_met(qp, attempt->peer);
	established(attempt->peer);
	twice = attempt->last && !attempt->offset &&
		fault_strikes(&qp->device->faults, FAULT_DUPLICATE);
	outcome = operation_execute(attempt);
	/* A message of one packet that comes again is a new one here. */
	if (twice && outcome == SENT) {
		mem_vec_seek(&attempt->local, 0);
		tap_request(attempt);
		operation_execute(attempt);
	}
	if (arrived(outcome))
		attempt->peer->attr.rq_psn = (qp->attr.sq_psn + operation_packets(attempt)) &
					     PSN_MASK;
	return outcome;
}

/* @lost: what the sender knows of a message that does not arrive. */
static enum outcome try_unreliable(struct attempt *attempt, enum outcome lost)
{
	struct hca_qp *qp = attempt->qp;

	tap_request(attempt);
	attempt->peer = path_peer(qp, qp->attr.dest.dlid, qp->attr.dest_qpn);
	return attempt->peer && is_answered(qp, attempt->peer) && continues(attempt) &&
			       !fault_strikes(&qp->device->faults, FAULT_DROP)
		       ? deliver_unreliable(attempt)
		       : lost;
}

static enum outcome execute_unreliable(struct attempt *attempt)
{
	struct hca_qp *qp = attempt->qp;
	enum outcome outcome = attempt->last ? SENT : PART;
	enum outcome theirs = outcome;

	if (operation_changes_sender(attempt->wqe))
		return operation_fail(attempt, SYNDROME_LOCAL_QP_OP);
	if (far_is_peer(qp)) {
		theirs = far_cast(attempt, far_machine(qp->attr.dest.dlid));
		if (theirs == HELD)
			return HELD;
	} else {
		theirs = try_unreliable(attempt, outcome);
	}
	qp->attr.sq_psn = (qp->attr.sq_psn + operation_packets(attempt)) & PSN_MASK;
	return theirs == FAILED ? FAILED : outcome;
}

enum outcome transport_deliver(struct attempt *attempt)
{
	switch (attempt->qp->type) {
	case IBV_QPT_UD:
		return datagram_execute(attempt);
	case IBV_QPT_UC:
		return execute_unreliable(attempt);
	default:
		return execute_reliable(attempt);
	}
}

/* The piece at hand begins with what has been sent. */
static void choose_piece(struct attempt *attempt)
{
	const uint64_t most = far_is_peer(attempt->qp) ? FAR_PIECE : TRANSPORT_PIECE;

	attempt->offset = attempt->qp->send.sent;
	attempt->part = attempt->wqe->length - attempt->offset;
	attempt->last = attempt->part <= most;
	if (!attempt->last)
		attempt->part = most;
	mem_vec_seek(&attempt->local, attempt->offset);
}

static bool length_fits(const struct wqe *wqe)
{
	return operation_is_atomic(wqe) ? wqe->length == OPERATION_ATOMIC
					: wqe->length <= TRANSPORT_MAX_MESSAGE;
}

enum outcome transport_execute(struct attempt *attempt)
{
	if (attempt->wqe->opcode == OP_NOP)
		return SENT;
	/* Errors at the sender are found before anything is sent, whatever is at the other end. */
	if (!length_fits(attempt->wqe))
		return operation_fail(attempt, SYNDROME_LOCAL_LENGTH);
	/* The program has shortened its request while it was being sent. */
	if (attempt->qp->send.sent > attempt->wqe->length)
		return operation_fail(attempt, SYNDROME_LOCAL_QP_OP);
	if (!operation_local_side(attempt))
		return operation_fail(attempt, SYNDROME_LOCAL_PROT);
	choose_piece(attempt);
	return transport_deliver(attempt);
}
