// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Send queues: the ring that a program fills, and the lists of work in which its QP stands. */
#include "sq.h"
#include "cq.h"
#include "event.h"

#include <softhca/machine/mem.h>

void sq_init(struct hca_qp *qp)
{
	list_init(&qp->ready);
	list_init(&qp->failed);
	list_init(&qp->unanswered);
}

void sq_settle(struct hca_qp *qp)
{
	timer_stop(&qp->device->machine->timers, &qp->retry);
	list_del(&qp->unanswered);
	qp->lost = qp->not_ready = 0;
	qp->sent = 0;
	qp->started = qp->waiting = qp->delayed = false;
}

void sq_stop(struct hca_qp *qp)
{
	sq_settle(qp);
	list_del(&qp->ready);
	list_del(&qp->failed);
}

/* ---- the ring ---- */

static uint64_t slot_of(const struct hca_qp *qp)
{
	return qp->sq.buffer + ((uint64_t)(qp->sq.next & (qp->sq.count - 1)) << qp->sq.shift);
}

bool sq_posted(const struct hca_qp *qp)
{
	uint32_t word;

	return qp->sq.count && !mem_load32(qp->ctx, slot_of(qp), &word) &&
	       mlx4_wqe_valid(word, qp->sq.next, qp->sq.count);
}

enum syndrome sq_fetch(const struct hca_qp *qp, struct wqe *wqe)
{
	uint8_t slot[WQE_MAX_BYTES];
	size_t size = (size_t)1 << qp->sq.shift;

	if (mem_read(qp->ctx, slot, slot_of(qp), size))
		return SYNDROME_LOCAL_QP_OP;
	return mlx4_parse_wqe(slot, size, qp->type == IBV_QPT_UD, wqe) ? SYNDROME_LOCAL_QP_OP : SYNDROME_OK;
}

void sq_complete(struct hca_qp *qp, const struct wqe *wqe, uint8_t syndrome)
{
	struct cqe cqe = {
		.qpn = qp->qpn, .send = true, .wqe_index = (uint16_t)qp->sq.next, .syndrome = syndrome,
	};

	qp->sq.next++;
	if (!syndrome && !wqe->signalled)
		return;
	if (wqe) {
		cqe.opcode = wqe->opcode;
		cqe.byte_count = (uint32_t)wqe->length;
	}
	cq_post(qp->send_cq, &cqe, false);
}

void sq_flush(struct hca_qp *qp)
{
	/* The ring ends: a program that writes into it all the time must not keep us here. */
	for (uint32_t left = qp->sq.count; left && sq_posted(qp); left--)
		sq_complete(qp, NULL, SYNDROME_FLUSH);
}

/* ---- lists of work ---- */

/* In SQD only what was begun is finished. */
bool sq_may_execute(const struct hca_qp *qp)
{
	return !qp->waiting && (qp->state == IBV_QPS_RTS || (qp->state == IBV_QPS_SQD && qp->started));
}

void sq_kick(struct hca_qp *qp)
{
	if (!sq_posted(qp))
		return;
	if (qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_SQE)
		sq_flush(qp);
	else if (sq_may_execute(qp) && list_empty(&qp->ready))
		list_add(&qp->device->machine->ready, &qp->ready);
}

void sq_hurry(struct hca_machine *machine)
{
	list_for_each_safe(node, after, &machine->unanswered) {
		struct hca_qp *qp = container_of(node, struct hca_qp, unanswered);

		qp->waiting = false;
		sq_kick(qp);
	}
}

void sq_drain(struct hca_qp *qp)
{
	if (qp->started || !qp->notify_drained)
		return;
	qp->notify_drained = false;
	event_qp(qp, IBV_EVENT_SQ_DRAINED);
}
