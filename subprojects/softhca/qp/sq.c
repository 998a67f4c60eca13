/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Send queues: the ring that a program fills, and the lists of work in which its QP stands. */
#include "qp.h"

#include <machine/port.h>

void sq_init(struct hca_qp *qp)
{
	list_init(&qp->send.ready);
	list_init(&qp->failed);
	list_init(&qp->send.unanswered);
	list_init(&qp->send.held);
}

uint32_t sq_next(const struct hca_qp *qp)
{
	return qp->sq.next + (qp->send.away ? qp->send.away->slots : 0);
}

uint32_t sq_psn(const struct hca_qp *qp)
{
	return (qp->attr.sq_psn + (qp->send.away ? qp->send.away->packets : 0)) & PSN_MASK;
}

void sq_settle(struct hca_qp *qp)
{
	away_recall(qp);
	timer_stop(&qp->send.retry);
	list_del(&qp->send.unanswered);
	qp->send.lost = qp->send.not_ready = 0;
	qp->send.sent = 0;
	qp->send.started = qp->send.waiting = qp->send.delayed = false;
}

void sq_stop(struct hca_qp *qp)
{
	sq_settle(qp);
	list_del(&qp->send.ready);
	list_del(&qp->failed);
	away_forget(qp);
}

/* ---- the ring ---- */

/* In RESET the ring still holds what was posted before: the provider clears it until INIT. */
static bool has_ring(const struct hca_qp *qp)
{
	return qp->sq.count && qp->state != IBV_QPS_RESET;
}

/* The ring as it is behind what is on its way. */
static struct ring from_next(const struct hca_qp *qp)
{
	struct ring ring = qp->sq;

	ring.next = sq_next(qp);
	return ring;
}

/* Ignores a word that claims more than the ring holds, as recv.c does. */
static void know(struct hca_qp *qp, uint32_t word)
{
	const struct ring next = from_next(qp);
	uint32_t known = qp->device->model->sq_known(&next, word);

	qp->sq.known = known - qp->sq.next <= qp->sq.count ? known : next.next;
}

bool sq_posted(struct hca_qp *qp)
{
	const struct ring next = from_next(qp);
	uint32_t word;

	if (!has_ring(qp))
		return false;
	if (qp->sq.known != next.next)
		return true;
	if (!mem_load32(qp->ctx, qp->device->model->sq_word(&next), &word))
		know(qp, word);
	return qp->sq.known != next.next;
}

/* A WQE at the end of the ring continues at its beginning. */
static int read_slots(const struct hca_qp *qp, uint32_t first, uint32_t count, uint8_t *to)
{
	const struct ring *sq = &qp->sq;
	uint32_t at = first & (sq->count - 1);
	uint32_t before = sq->count - at < count ? sq->count - at : count;
	int err = mem_read(qp->ctx, to, place_at(sq->buffer, (uint64_t)at << sq->shift),
			   (size_t)before << sq->shift);

	if (err || before == count)
		return err;
	return mem_read(qp->ctx, to + ((size_t)before << sq->shift), sq->buffer,
			(size_t)(count - before) << sq->shift);
}

/* Reads its slots. Their number; 0 = not readable, or more than was posted. */
static uint32_t read_wqe(const struct hca_qp *qp, uint32_t slot, uint8_t bytes[WQE_MAX_BYTES])
{
	uint32_t slots;

	if (read_slots(qp, slot, 1, bytes))
		return 0;
	slots = qp->device->model->wqe_slots(bytes);
	if (slots > qp->sq.known - slot || slots << qp->sq.shift > WQE_MAX_BYTES)
		return 0;
	return slots == 1 || !read_slots(qp, slot + 1, slots - 1,
					 bytes + ((size_t)1 << qp->sq.shift))
		       ? slots
		       : 0;
}

enum syndrome sq_fetch(const struct hca_qp *qp, uint32_t slot, struct wqe *wqe)
{
	uint8_t bytes[WQE_MAX_BYTES];

	/* For the completion of a request that cannot be read. */
	wqe->opcode = 0;
	wqe->length = 0;
	wqe->slots = read_wqe(qp, slot, bytes);
	if (!wqe->slots)
		return SYNDROME_LOCAL_QP_OP;
	if (qp->device->model->parse_wqe(bytes, (size_t)wqe->slots << qp->sq.shift, qp->type, wqe))
		return SYNDROME_LOCAL_QP_OP;
	if (qp->type == IBV_QPT_UD)
		port_route(qp->device->machine, &wqe->av);
	return SYNDROME_OK;
}

/* How many slots the current request takes: all that are posted if its size cannot be told. */
static uint32_t slots_at_hand(const struct hca_qp *qp, const struct wqe *wqe)
{
	uint8_t bytes[WQE_MAX_BYTES];
	uint32_t slots = wqe ? wqe->slots : read_wqe(qp, qp->sq.next, bytes);

	return slots ? slots : qp->sq.known - qp->sq.next;
}

void sq_complete(struct hca_qp *qp, const struct wqe *wqe, uint8_t syndrome)
{
	struct cqe cqe = {
		.qpn = qp->qpn, .send = true, .wqe_index = (uint16_t)qp->sq.next,
		.syndrome = syndrome,
		.user_index = qp->user_index,
	};

	if (syndrome)
		count_error(qp, syndrome);
	else
		count_sent(qp, wqe->length);
	qp->sq.next += slots_at_hand(qp, wqe);
	/* A program that sees this completion finds the peer's resources free. */
	if (qp->send.reading && !sq_posted(qp))
		qp->send.reading = 0;
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
	return !qp->send.waiting && list_empty(&qp->send.held) &&
	       (qp->state == IBV_QPS_RTS || (qp->state == IBV_QPS_SQD && qp->send.started));
}

static void kick_if_known(struct hca_qp *qp)
{
	if (qp->sq.known == sq_next(qp))
		return;
	if (qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_SQE)
		sq_flush(qp);
	else if (sq_may_execute(qp) && list_empty(&qp->send.ready))
		list_add(&qp->device->machine->ready, &qp->send.ready);
}

void sq_kick(struct hca_qp *qp)
{
	if (sq_posted(qp))
		kick_if_known(qp);
}

/* Reads the words of all of them together; a QP whose word is out of reach has nothing. */
static void look(struct hca_context *ctx, struct hca_qp *const *qps, const struct place *at,
		 size_t count)
{
	uint32_t words[MEM_WORDS];
	bool together = !mem_load32_many(ctx, at, words, count);

	for (size_t i = 0; i < count; i++) {
		if (together || !mem_load32(ctx, at[i], &words[i]))
			know(qps[i], words[i]);
	}
}

void sq_kick_all(struct hca_context *ctx)
{
	struct hca_qp *qps[MEM_WORDS];
	struct place at[MEM_WORDS];
	size_t count = 0;

	list_for_each(struct hca_qp, qp, &ctx->qps, link) {
		const struct ring next = from_next(qp);

		if (!has_ring(qp) || qp->sq.known != next.next)
			continue;
		qps[count] = qp;
		at[count++] = ctx->device->model->sq_word(&next);
		if (count < MEM_WORDS)
			continue;
		look(ctx, qps, at, count);
		count = 0;
	}
	if (count)
		look(ctx, qps, at, count);
	list_for_each(struct hca_qp, qp, &ctx->qps, link)
		kick_if_known(qp);
}

void sq_retry_unanswered(struct hca_machine *machine)
{
	list_for_each_safe(struct hca_qp, qp, &machine->unanswered, send.unanswered) {
		qp->send.waiting = false;
		sq_kick(qp);
	}
}

void sq_drain(struct hca_qp *qp)
{
	if (qp->send.started || !qp->send.notify_drained)
		return;
	qp->send.notify_drained = false;
	event_qp(qp, IBV_EVENT_SQ_DRAINED);
}
