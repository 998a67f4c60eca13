/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receive queues: the next WQE, its scatter list, its completion. */
#include "qp.h"

#include <model/segment.h>

#include <endian.h>

bool recv_queue_of(struct hca_qp *qp, uint32_t srqn, struct recv_queue *queue)
{
	struct hca_srq *srq = qp->srq;

	if (qp->type == IBV_QPT_XRC_RECV) {
		srq = numtab_find(&qp->device->numbers[HCA_SRQ], srqn);
		if (!srq || !srq->xrc || srq->domain->xrcd != qp->xrcd)
			return false;
	}
	queue->qp = qp;
	queue->srq = srq;
	queue->pd = srq && srq->xrc ? srq->pd : qp->pd;
	queue->cq = srq && srq->xrc ? srq->cq : qp->recv_cq;
	queue->ctx = srq ? srq->obj.ctx : qp->ctx;
	return true;
}

/* Whether there is a WQE. A record that tells of more than the ring can hold tells nothing. */
static bool rq_ready(struct hca_qp *qp)
{
	uint32_t word;
	uint16_t more;

	if (qp->rq.count && qp->rq.known == qp->rq.next &&
	    !mem_load32(qp->ctx, qp->rq.record, &word)) {
		more = (uint16_t)(be32toh(word) - qp->rq.next);
		qp->rq.known += more <= qp->rq.count ? more : 0;
	}
	return qp->rq.known != qp->rq.next;
}

static bool claimed(const struct recv_queue *queue)
{
	return queue->srq && queue->qp->recv.claimed_srqn == queue->srq->obj.number;
}

void recv_claim(const struct recv_queue *queue)
{
	if (!queue->srq || claimed(queue))
		return;
	queue->qp->recv.claimed_srqn = queue->srq->obj.number;
	queue->qp->recv.claimed_index = queue->srq->head;
	srq_consume(queue->srq);
}

bool recv_available(const struct recv_queue *queue)
{
	return claimed(queue) || (queue->srq ? srq_ready(queue->srq) : rq_ready(queue->qp));
}

uint32_t recv_peek(const struct recv_queue *queue, struct sge sge[WQE_MAX_SGE])
{
	uint8_t list[WQE_MAX_BYTES];
	const struct hca_qp *qp = queue->qp;
	const struct hca_srq *srq = queue->srq;
	uint16_t index = claimed(queue) ? qp->recv.claimed_index : srq ? srq->head : 0;
	struct place slot =
		srq ? place_at(srq_slot(srq, index), SEGMENT_SRQ_HEADER)
		    : place_at(qp->rq.buffer, (uint64_t)(qp->rq.next & (qp->rq.count - 1))
						      << qp->rq.shift);
	size_t bytes = SEGMENT_BYTES * (size_t)(srq ? srq->max_sge : qp->max_recv_sge);

	if (bytes > sizeof(list) || mem_read(queue->ctx, list, slot, bytes))
		return 0;
	return segment_parse_scatter(list, bytes, sge);
}

void recv_complete(const struct recv_queue *queue, struct cqe *cqe, bool solicited)
{
	struct hca_srq *srq = queue->srq;

	if (cqe->syndrome)
		count_error(queue->qp, cqe->syndrome);
	else
		count_received(queue->qp, cqe->byte_count);
	cqe->qpn = queue->qp->qpn;
	cqe->send = false;
	cqe->user_index = queue->qp->user_index;
	if (srq) {
		recv_claim(queue);
		cqe->wqe_index = queue->qp->recv.claimed_index;
		queue->qp->recv.claimed_srqn = 0;
		cqe->srqn = srq->obj.number;
		cqe->xrc = srq->xrc;
		if (srq->xrc)
			cqe->user_index = srq->place.user_index;
	} else {
		cqe->wqe_index = (uint16_t)queue->qp->rq.next++;
	}
	cq_post(queue->cq, cqe, solicited);
	queue->qp->device->machine->reached = queue->cq->obj.ctx;
}

static void flush_claimed(struct hca_qp *qp)
{
	struct cqe cqe = { .syndrome = SYNDROME_FLUSH };
	struct recv_queue queue;

	if (qp->recv.claimed_srqn && recv_queue_of(qp, qp->recv.claimed_srqn, &queue) &&
	    claimed(&queue))
		recv_complete(&queue, &cqe, false);
	qp->recv.claimed_srqn = 0;
}

void recv_flush(struct hca_qp *qp)
{
	struct recv_queue queue = { .qp = qp, .cq = qp->recv_cq, .ctx = qp->ctx };

	flush_claimed(qp);
	/* Receives in an SRQ are not flushed: they belong to no QP yet. */
	if (qp->srq || !qp->rq.count)
		return;
	for (uint32_t left = qp->rq.count; left && rq_ready(qp); left--) {
		struct cqe cqe = { .syndrome = SYNDROME_FLUSH };

		recv_complete(&queue, &cqe, false);
	}
}
