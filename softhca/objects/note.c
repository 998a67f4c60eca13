/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Notes in a context's ledger. The program can write there, too: nothing of it is ever read. */
#include "note.h"

#include <softhca/ledger.h>

/* In this order for whoever looks when the daemon is dead. */
static void put(uint32_t *at, uint32_t value)
{
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static struct ledger_cq *cq_note(const struct hca_cq *cq)
{
	return cq->note == LEDGER_NOTHING ? NULL : &cq->obj.ctx->ledger->cq[cq->note];
}

static struct ledger_qp *qp_note(const struct hca_qp *qp)
{
	return !qp->ctx || qp->note == LEDGER_NOTHING ? NULL : &qp->ctx->ledger->qp[qp->note];
}

void note_context(struct hca_context *ctx)
{
	for (uint32_t i = 0; models[i]; i++) {
		if (models[i] == ctx->device->model)
			ctx->ledger->model = i;
	}
	ctx->ledger->cqe_version = ctx->cqe_version;
}

/* NULL: the ledger is full. */
static struct ledger_cq *new_cq_note(struct hca_cq *cq)
{
	if (numtab_add(&cq->obj.ctx->cq_notes, cq, &cq->note))
		cq->note = LEDGER_NOTHING;
	return cq_note(cq);
}

static struct ledger_qp *new_qp_note(struct hca_qp *qp)
{
	if (!qp->ctx || numtab_add(&qp->ctx->qp_notes, qp, &qp->note))
		qp->note = LEDGER_NOTHING;
	return qp_note(qp);
}

void note_cq(struct hca_cq *cq)
{
	struct ledger_cq *note = cq_note(cq);

	if (!note)
		note = new_cq_note(cq);
	if (!note)
		return;
	put(&note->used, 0);
	if (cq->note >= cq->obj.ctx->cqs_noted)
		put(&cq->obj.ctx->ledger->cqs, cq->obj.ctx->cqs_noted = cq->note + 1);
	note->buffer = cq->place.buffer;
	note->record = cq->place.record;
	note->entry = cq->place.entry;
	note->size = cq->size;
	note->producer = cq->producer;
	note->coming = LEDGER_NOTHING;
	put(&note->used, 1);
}

void note_cq_gone(struct hca_cq *cq)
{
	struct ledger_cq *note = cq_note(cq);

	if (!note)
		return;
	put(&note->used, 0);
	numtab_remove(&cq->obj.ctx->cq_notes, cq->note);
}

static void note_queue(struct ledger_queue *note, const struct ring *ring)
{
	note->buffer = ring->buffer;
	note->record = ring->record;
	note->count = ring->count;
	note->shift = ring->shift;
	note->next = ring->next;
}

void note_qp(struct hca_qp *qp)
{
	struct ledger_qp *note = new_qp_note(qp);

	if (!note)
		return;
	note_queue(&note->sq, &qp->sq);
	note_queue(&note->rq, &qp->rq);
	note->active = 0;
	note->qpn = qp->qpn;
	note->user_index = qp->user_index;
	note->send_cq = qp->send_cq ? qp->send_cq->note : LEDGER_NOTHING;
	note->recv_cq = qp->recv_cq ? qp->recv_cq->note : LEDGER_NOTHING;
	put(&note->used, 1);
	if (qp->note >= qp->ctx->qps_noted)
		put(&qp->ctx->ledger->qps, qp->ctx->qps_noted = qp->note + 1);
}

void note_qp_gone(struct hca_qp *qp)
{
	struct ledger_qp *note = qp_note(qp);

	if (!note)
		return;
	put(&note->used, 0);
	numtab_remove(&qp->ctx->qp_notes, qp->note);
}

void note_queues(struct hca_qp *qp)
{
	struct ledger_qp *note = qp_note(qp);

	if (!note)
		return;
	put(&note->sq.next, qp->sq.next);
	put(&note->rq.next, qp->rq.next);
	put(&note->active, qp->state != IBV_QPS_RESET);
}

/* A receive out of an SRQ moves no queue of the QP. */
void note_coming(struct hca_cq *cq, const struct hca_qp *qp, bool send)
{
	struct ledger_cq *note = cq_note(cq);

	if (!note)
		return;
	put(&note->coming, LEDGER_NOTHING);
	if (!qp || !qp_note(qp) || (!send && qp->srq))
		return;
	note->coming_next = send ? qp->sq.next : qp->rq.next;
	put(&note->coming, qp->note | (send ? LEDGER_SEND : 0));
}

void note_written(struct hca_cq *cq, struct hca_qp *qp)
{
	struct ledger_cq *note = cq_note(cq);

	if (qp)
		note_queues(qp);
	if (note)
		put(&note->producer, cq->producer);
}
