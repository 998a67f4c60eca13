/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Moves the bytes of several short messages at once, before the first of them is executed. The
 * system call that moves the bytes of one takes longer than all the rest of its execution.
 */
#include "wire.h"

#include <machine/client.h>

#include <string.h>

#define MOST 8u

struct batch {
	struct recv_queue queue;
	unsigned int count;
	size_t length;
	bool inlined; /* all of them, or none */
	struct iovec from[MOST], to[MOST];
	uint8_t bytes[MOST * AHEAD_BYTES];
};

/* The receive queue is that of all others. */
static bool same_queue(struct batch *batch, const struct attempt *attempt)
{
	struct recv_queue queue;

	if (!recv_queue_of(attempt->peer, attempt->wqe->srqn, &queue))
		return false;
	if (!batch->count)
		batch->queue = queue;
	return queue.srq == batch->queue.srq;
}

static bool is_short_send(const struct wqe *wqe)
{
	return (wqe->opcode == OP_SEND || wqe->opcode == OP_SEND_IMM) && wqe->length &&
	       wqe->length <= AHEAD_BYTES;
}

/* False: the message is executed by itself, which also finds its faults. */
static bool add(struct batch *batch, struct attempt *attempt)
{
	const struct wqe *wqe = attempt->wqe;
	const bool inlined = wqe->inline_length;
	struct mem_vec to;

	if (!is_short_send(wqe) || !same_queue(batch, attempt) ||
	    recv_known(&batch->queue) <= batch->count || !operation_local_side(attempt) ||
	    attempt->local.count != 1 || (batch->count && inlined != batch->inlined) ||
	    operation_receive_side(&batch->queue, batch->count, 0, wqe->length, &to) != BUFFER_OK ||
	    to.count != 1)
		return false;
	if (inlined)
		memcpy(batch->bytes + batch->length, wqe->inline_data, wqe->inline_length);
	batch->inlined = inlined;
	batch->from[batch->count] = attempt->local.piece[0];
	batch->to[batch->count++] = to.piece[0];
	batch->length += (size_t)wqe->length;
	return true;
}

static bool move(struct batch *batch, const struct hca_context *sender)
{
	const struct iovec here = { batch->bytes, batch->length };
	const ssize_t all = (ssize_t)batch->length;

	return (batch->inlined ||
		process_read(sender->client.pid, &here, batch->from, batch->count) == all) &&
	       process_write(batch->queue.ctx->client.pid, &here, batch->to, batch->count) == all;
}

unsigned int ahead_move(struct hca_qp *qp)
{
	static struct batch batch; /* the daemon has one thread */
	static struct wqe wqe;
	struct attempt attempt = { .qp = qp, .wqe = &wqe };
	uint32_t slot = qp->sq.next;

	if (!transport_is_clear(&attempt))
		return 0;
	batch.count = 0;
	batch.length = 0;
	while (batch.count < MOST && sq_posted_at(qp, slot) && !sq_fetch(qp, slot, &wqe) &&
	       add(&batch, &attempt))
		slot += wqe.slots;
	return batch.count > 1 && move(&batch, qp->ctx) ? batch.count : 0;
}
