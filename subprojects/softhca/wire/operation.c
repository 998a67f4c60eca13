/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A request at its receiver: keys, buffers, and what it does there. */
#include "wire.h"

#include <machine/port.h>

#define NO_EVENT (-1) /* the peer's receive completion tells of the error */

enum outcome operation_fail(struct attempt *attempt, enum syndrome syndrome)
{
	attempt->syndrome = (uint8_t)syndrome;
	return FAILED;
}

/* The peer answers with a NAK. On an unreliable connection it drops the message instead. */
static enum outcome nak(struct attempt *attempt, enum syndrome syndrome, int event)
{
	if (attempt->qp->type == IBV_QPT_UC)
		return DROPPED;
	attempt->peer_fails = true;
	attempt->event = event;
	return operation_fail(attempt, syndrome);
}

/* ---- keys ---- */

bool operation_is_atomic(const struct wqe *wqe)
{
	return wqe->opcode == OP_ATOMIC_CS || wqe->opcode == OP_ATOMIC_FA;
}

bool operation_changes_sender(const struct wqe *wqe)
{
	return wqe->opcode == OP_READ || operation_is_atomic(wqe);
}

bool operation_local_side(struct attempt *attempt)
{
	const struct hca_qp *qp = attempt->qp;
	const struct wqe *wqe = attempt->wqe;
	struct mem_vec *vec = &attempt->local;
	uint32_t access = operation_changes_sender(wqe) ? IBV_ACCESS_LOCAL_WRITE : 0;

	if (wqe->inline_length) {
		if (access)
			return false;
		mem_vec_init(vec, NULL);
		mem_vec_add(vec, (uint64_t)(uintptr_t)wqe->inline_data, wqe->inline_length);
		return true;
	}
	mem_vec_init(vec, qp->ctx);
	for (uint32_t i = 0; i < wqe->sges; i++) {
		const struct sge *sge = &wqe->sge[i];
		struct hca_mr *mr;

		if (!sge->length)
			continue;
		mr = mr_find(qp->device, sge->key, qp->pd, sge->address, sge->length, access);
		if (!mr)
			return false;
		mem_vec_add(vec, mr_address(mr, sge->address), sge->length);
	}
	return true;
}

/* The memory that the rkey opens for @pd. False if it opens none. */
static bool remote_side(const struct attempt *attempt, const struct hca_pd *pd, uint64_t length,
			uint32_t access, struct mem_vec *vec)
{
	const struct wqe *wqe = attempt->wqe;
	struct hca_mr *mr =
		mr_find(attempt->peer->device, wqe->rkey, pd, wqe->remote_address, length, access);

	if (!mr)
		return false;
	mem_vec_init(vec, mr->obj.ctx);
	mem_vec_add(vec, mr_address(mr, wqe->remote_address), (size_t)length);
	mem_vec_seek(vec, attempt->offset);
	return true;
}

enum buffer operation_receive_side(const struct recv_queue *queue, uint64_t skip, uint64_t length,
				   struct mem_vec *vec)
{
	struct sge sge[WQE_MAX_SGE];
	uint32_t count = recv_peek(queue, sge);

	mem_vec_init(vec, queue->ctx);
	length += skip;
	for (uint32_t i = 0; i < count && length; i++) {
		uint64_t part = sge[i].length < length ? sge[i].length : length;
		struct hca_mr *mr;

		if (!part)
			continue;
		mr = mr_find(queue->qp->device, sge[i].key, queue->pd, sge[i].address, part,
			     IBV_ACCESS_LOCAL_WRITE);
		if (!mr)
			return BUFFER_FORBIDDEN;
		length -= part;
		if (skip >= part) {
			skip -= part;
			continue;
		}
		mem_vec_add(vec, mr_address(mr, sge[i].address + skip), (size_t)(part - skip));
		skip = 0;
	}
	return length ? BUFFER_SHORT : BUFFER_OK;
}

/* No packet may be longer than the receiver's MTU; of several all but the last are full. */
static bool mtu_fits(const struct attempt *attempt)
{
	uint32_t mine = qp_mtu(attempt->qp);
	uint32_t theirs = qp_mtu(attempt->peer);

	return mine == theirs || (attempt->wqe->length <= mine && attempt->wqe->length <= theirs);
}

uint32_t operation_packets(const struct attempt *attempt)
{
	uint64_t mtu = qp_mtu(attempt->qp);
	uint64_t count = (attempt->part + mtu - 1) / mtu;

	return count ? (uint32_t)count : 1;
}

/* ---- operations, each at the peer ---- */

void operation_describe(const struct attempt *attempt, struct cqe *cqe)
{
	const struct hca_qp *qp = attempt->qp;

	cqe->imm = attempt->wqe->imm;
	cqe->remote = qp->qpn;
	cqe->slid = port_lid(qp->device, qp->attr.port);
	cqe->sl = qp->attr.dest.sl;
	cqe->byte_count = (uint32_t)attempt->wqe->length;
}

void operation_receiver_fails(struct attempt *attempt)
{
	if (attempt->peer == attempt->qp)
		attempt->sender_fails = true;
	else
		qp_fail(attempt->peer);
}

/* The receive buffer is too short or not accessible. Without a NAK only the receiver fails. */
static enum outcome complete_with_error(struct attempt *attempt, const struct recv_queue *queue,
					enum syndrome theirs, enum syndrome ours)
{
	struct cqe cqe = { .syndrome = (uint8_t)theirs };

	recv_complete(queue, &cqe, true);
	if (attempt->qp->type == IBV_QPT_UC)
		operation_receiver_fails(attempt);
	return nak(attempt, ours, NO_EVENT);
}

static enum outcome send_message(struct attempt *attempt, const struct recv_queue *queue)
{
	const struct wqe *wqe = attempt->wqe;
	struct cqe cqe = { .opcode = wqe->opcode == OP_SEND_IMM ? RECV_SEND_IMM : RECV_SEND };
	struct mem_vec to;

	/* Where no completion can be reported any more, nothing may arrive. */
	if (queue->cq->overrun)
		return nak(attempt, SYNDROME_REMOTE_OP, IBV_EVENT_QP_FATAL);
	if (!recv_available(queue))
		return NOT_READY;
	switch (operation_receive_side(queue, 0, wqe->length, &to)) {
	case BUFFER_SHORT:
		return complete_with_error(attempt, queue, SYNDROME_LOCAL_LENGTH,
					   SYNDROME_REMOTE_INVALID);
	case BUFFER_FORBIDDEN:
		return complete_with_error(attempt, queue, SYNDROME_LOCAL_PROT, SYNDROME_REMOTE_OP);
	default:
		break;
	}
	if (!attempt->last)
		recv_claim(queue);
	mem_vec_seek(&to, attempt->offset);
	switch (mem_copy(&to, &attempt->local, attempt->part)) {
	case MEM_BAD_SOURCE:
		return operation_fail(attempt, SYNDROME_LOCAL_PROT);
	case MEM_BAD_TARGET:
		return complete_with_error(attempt, queue, SYNDROME_LOCAL_PROT, SYNDROME_REMOTE_OP);
	default:
		break;
	}
	if (!attempt->last)
		return PART;
	operation_describe(attempt, &cqe);
	recv_complete(queue, &cqe, wqe->solicited);
	return SENT;
}

static enum outcome write_memory(struct attempt *attempt, const struct recv_queue *queue)
{
	const struct wqe *wqe = attempt->wqe;
	struct cqe cqe = { .opcode = RECV_WRITE_IMM };
	bool immediate = wqe->opcode == OP_WRITE_IMM && attempt->last;
	struct mem_vec to;

	if (!(attempt->peer->attr.access & IBV_ACCESS_REMOTE_WRITE))
		return nak(attempt, SYNDROME_REMOTE_INVALID, IBV_EVENT_QP_REQ_ERR);
	if (immediate && queue->cq->overrun)
		return nak(attempt, SYNDROME_REMOTE_OP, IBV_EVENT_QP_FATAL);
	if (immediate && !recv_available(queue))
		return NOT_READY;
	/* The key of a message without bytes is not checked. */
	if (wqe->length &&
	    !remote_side(attempt, queue->pd, wqe->length, IBV_ACCESS_REMOTE_WRITE, &to))
		return nak(attempt, SYNDROME_REMOTE_ACCESS, IBV_EVENT_QP_ACCESS_ERR);
	switch (mem_copy(&to, &attempt->local, attempt->part)) {
	case MEM_BAD_SOURCE:
		return operation_fail(attempt, SYNDROME_LOCAL_PROT);
	case MEM_BAD_TARGET:
		return nak(attempt, SYNDROME_REMOTE_ACCESS, IBV_EVENT_QP_ACCESS_ERR);
	default:
		break;
	}
	attempt->qp->device->machine->reached = queue->ctx;
	if (immediate) {
		operation_describe(attempt, &cqe);
		recv_complete(queue, &cqe, wqe->solicited);
	}
	return attempt->last ? SENT : PART;
}

/*
 * The driver switches reads and atomics off on a QP that offers no resources for them. A QP that
 * offers fewer than are under way refuses one for which it has none left. Adapters have powers of
 * two of them.
 */
static bool may_read(const struct attempt *attempt, uint32_t access)
{
	const struct hca_qp_attr *theirs = &attempt->peer->attr;

	return theirs->access & access && theirs->max_dest_rd_atomic &&
	       attempt->qp->send.reading <= model_pow2(theirs->max_dest_rd_atomic);
}

static enum outcome read_memory(struct attempt *attempt, const struct recv_queue *queue)
{
	const struct wqe *wqe = attempt->wqe;
	struct mem_vec from;

	if (!may_read(attempt, IBV_ACCESS_REMOTE_READ))
		return nak(attempt, SYNDROME_REMOTE_INVALID, IBV_EVENT_QP_REQ_ERR);
	if (wqe->length &&
	    !remote_side(attempt, queue->pd, wqe->length, IBV_ACCESS_REMOTE_READ, &from))
		return nak(attempt, SYNDROME_REMOTE_ACCESS, IBV_EVENT_QP_ACCESS_ERR);
	switch (mem_copy(&attempt->local, &from, attempt->part)) {
	case MEM_BAD_SOURCE:
		return nak(attempt, SYNDROME_REMOTE_ACCESS, IBV_EVENT_QP_ACCESS_ERR);
	case MEM_BAD_TARGET:
		return operation_fail(attempt, SYNDROME_LOCAL_PROT);
	default:
		return attempt->last ? SENT : PART;
	}
}

static uint64_t atomic_result(const struct wqe *wqe, uint64_t old)
{
	if (wqe->opcode == OP_ATOMIC_FA)
		return old + wqe->swap_add;
	return old == wqe->compare ? wqe->swap_add : old;
}

static enum outcome answer_atomic(struct attempt *attempt, uint64_t old)
{
	struct mem_vec answer;

	mem_vec_init(&answer, NULL);
	mem_vec_add(&answer, (uint64_t)(uintptr_t)&old, sizeof(old));
	return mem_copy(&attempt->local, &answer, sizeof(old)) == MEM_OK
		       ? SENT
		       : operation_fail(attempt, SYNDROME_LOCAL_PROT);
}

/* Atomic among HCAs (IBV_ATOMIC_HCA): the daemon does one thing at a time. */
static enum outcome change_memory(struct attempt *attempt, const struct recv_queue *queue)
{
	const struct wqe *wqe = attempt->wqe;
	struct hca_qp *peer = attempt->peer;
	uint64_t old, changed;
	struct hca_mr *mr;
	uint64_t address;

	if (!may_read(attempt, IBV_ACCESS_REMOTE_ATOMIC) || wqe->remote_address % sizeof(old))
		return nak(attempt, SYNDROME_REMOTE_INVALID, IBV_EVENT_QP_REQ_ERR);
	mr = mr_find(peer->device, wqe->rkey, queue->pd, wqe->remote_address, sizeof(old),
		     IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr)
		return nak(attempt, SYNDROME_REMOTE_ACCESS, IBV_EVENT_QP_ACCESS_ERR);
	address = mr_address(mr, wqe->remote_address);
	if (client_read(&mr->obj.ctx->client, &old, address, sizeof(old)))
		return nak(attempt, SYNDROME_REMOTE_ACCESS, IBV_EVENT_QP_ACCESS_ERR);
	changed = atomic_result(wqe, old);
	if (client_write(&mr->obj.ctx->client, address, &changed, sizeof(changed)))
		return nak(attempt, SYNDROME_REMOTE_ACCESS, IBV_EVENT_QP_ACCESS_ERR);
	peer->recv.atomic_known = true;
	peer->recv.atomic_psn = peer->attr.rq_psn;
	peer->recv.atomic_old = old;
	return answer_atomic(attempt, old);
}

enum outcome operation_execute(struct attempt *attempt)
{
	struct recv_queue queue;

	/* Each request of an XRC sender names an SRQ, whose protection domain has the keys. */
	if (!recv_queue_of(attempt->peer, attempt->wqe->srqn, &queue) || !mtu_fits(attempt))
		return nak(attempt, SYNDROME_REMOTE_INVALID, IBV_EVENT_QP_REQ_ERR);
	switch (attempt->wqe->opcode) {
	case OP_SEND:
	case OP_SEND_IMM:
		return send_message(attempt, &queue);
	case OP_WRITE:
	case OP_WRITE_IMM:
		return write_memory(attempt, &queue);
	case OP_READ:
		return read_memory(attempt, &queue);
	default:
		return change_memory(attempt, &queue);
	}
}

enum outcome operation_repeat(struct attempt *attempt)
{
	const struct hca_qp *peer = attempt->peer;
	struct recv_queue queue;

	switch (attempt->wqe->opcode) {
	case OP_READ:
		if (!recv_queue_of(attempt->peer, attempt->wqe->srqn, &queue))
			return LOST;
		return read_memory(attempt, &queue);
	case OP_ATOMIC_CS:
	case OP_ATOMIC_FA:
		if (!peer->recv.atomic_known || peer->recv.atomic_psn != attempt->qp->attr.sq_psn)
			return LOST;
		return answer_atomic(attempt, peer->recv.atomic_old);
	default:
		return attempt->last ? SENT : PART;
	}
}
