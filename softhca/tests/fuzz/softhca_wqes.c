/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Hostile rings: work requests, receive buffers, doorbell records and completion queues with any
 * contents, on QPs of every type, while the QPs change their states. Afterwards the context ends,
 * and nothing may be left of it.
 */
#include "softhca_stage.h"

#include <endian.h>
#include <fcntl.h>
#include <rdma/mlx4-abi.h>
#include <rdma/mlx5-abi.h>
#include <stdlib.h>
#include <string.h>

#include <softhca/objects/objects.h>
#include <softhca/qp/qp.h>

#define SLOT_SHIFT 8u /* of libmlx4 */
#define UNITS	   64u /* of libmlx5, in as much memory */
#define SLOTS_LOG  4u
#define SLOTS	   (1u << SLOTS_LOG)
#define QP_BYTES   0x4000u
#define CQ_AT	   0x40000u
#define SRQ_AT	   0x50000u
#define RECORDS_AT 0x60000u

enum { RC_A, RC_B, UC_A, UC_B, UD_A, UD_B, XRC_A, XRC_B, QPS };

static const enum ibv_qp_type types[QPS] = {
	IBV_QPT_RC, IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_UD, IBV_QPT_XRC_SEND,
	IBV_QPT_XRC_RECV,
};

struct play {
	struct stage *stage;
	struct hca_pd *pd;
	struct hca_mr *mr;
	struct hca_cq *cq;
	struct hca_xrcd_handle *domain;
	struct hca_srq *srq, *xrc_srq;
	struct hca_qp_handle *qp[QPS];
	uint32_t posted[QPS]; /* slots or units */
	bool five;	      /* the rings are libmlx5's */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(int err)
{
	if (err)
		abort();
}

static uint64_t record(int index)
{
	return ARENA_BASE + RECORDS_AT + (uint64_t)index * 64;
}

static uint32_t *record_here(struct play *play, int index)
{
	return (void *)(play->stage->arena + RECORDS_AT + index * 64);
}

/* ---- the objects ---- */

static void make_shared(struct play *play, uint32_t entry)
{
	struct hca_context *ctx = play->stage->ctx;
	const struct mr_range range = { play->stage->scratch, SCRATCH_SIZE, play->stage->scratch,
					0xf };
	struct cq_request cq = { .cqe = 63, .place = { ARENA_BASE + CQ_AT, record(QPS), entry } };
	struct srq_request srq = { .max_wr = 15,
				   .max_sge = 3,
				   .place = { ARENA_BASE + SRQ_AT, record(QPS + 1), 0 } };

	play->pd = object_new(ctx, HCA_PD, sizeof(*play->pd));
	need(!play->pd);
	need(mr_create(ctx, play->pd, &range, &play->mr));
	need(cq_create(ctx, &cq, &play->cq));
	need(xrcd_open(ctx, -1, O_CREAT, &play->domain));
	srq.pd = play->pd;
	need(srq_create(ctx, &srq, &play->srq));
	srq.xrc = true;
	srq.domain = play->domain;
	srq.cq = play->cq;
	srq.place.buffer += 0x2000;
	srq.place.record = record(QPS + 2);
	need(srq_create(ctx, &srq, &play->xrc_srq));
}

/* The rings at the offsets where the provider would place them. */
static int take_qp(struct hca_context *ctx, int index, bool five, struct qp_request *request)
{
	const struct mlx4_ib_create_qp of_mlx4 = {
		.buf_addr = ARENA_BASE + (uint64_t)index * QP_BYTES, .db_addr = record(index),
		.log_sq_bb_count = SLOTS_LOG,
		.log_sq_stride = SLOT_SHIFT,
	};
	const struct mlx5_ib_create_qp of_mlx5 = {
		.buf_addr = of_mlx4.buf_addr, .db_addr = of_mlx4.db_addr, .sq_wqe_count = UNITS,
		.rq_wqe_count = request->caps.max_recv_wr,
		.rq_wqe_shift = request->caps.max_recv_wr ? 6 : 0,
	};

	return ctx->device->model->take_qp(five ? (const void *)&of_mlx5 : &of_mlx4,
					   five ? sizeof(of_mlx5) : sizeof(of_mlx4), request->type,
					   request->srq, ctx->cqe_version,
					   &ctx->device->machine->settings.limits, &request->caps,
					   &request->rings);
}

static void make_qp(struct play *play, int index, bool shared_receive)
{
	struct qp_request request = {
		.type = types[index], .caps = { .max_send_wr = SLOTS, .max_send_sge = 2 },
	};

	if (request.type == IBV_QPT_XRC_RECV) {
		request.domain = play->domain;
	} else {
		request.pd = play->pd;
		request.send_cq = play->cq;
	}
	if (request.pd && request.type != IBV_QPT_XRC_SEND) {
		request.recv_cq = play->cq;
		request.srq = shared_receive ? play->srq : NULL;
		request.caps.max_recv_wr = shared_receive ? 0 : SLOTS;
		request.caps.max_recv_sge = shared_receive ? 0 : 4;
	}
	need(take_qp(play->stage->ctx, index, play->five, &request));
	need(qp_create(play->stage->ctx, &request, &play->qp[index]));
}

static void connect_qp(struct hca_qp *qp, const struct hca_qp *peer)
{
	qp->attr = (struct hca_qp_attr){
		.dest_qpn = peer->qpn, .dest.dlid = qp->device->port[1].lid, .port = 1,
		.access = 0xf, .max_dest_rd_atomic = 4,
		.max_rd_atomic = 4, .path_mtu = IBV_MTU_1024, .timeout = 1, .retry_cnt = 1,
		.rnr_retry = 1,
		.min_rnr_timer = 1,
	};
	qp->state = qp->type == IBV_QPT_XRC_RECV ? IBV_QPS_RTR : IBV_QPS_RTS;
}

static void set_up(struct play *play, uint8_t flags)
{
	play->five = play->stage->ctx->device->model == &connectx5;
	play->stage->ctx->cqe_version = play->five && flags & 2;
	make_shared(play, !play->five ? 32 : flags & 4 ? 128 : 64);
	for (int i = 0; i < QPS; i++)
		make_qp(play, i, flags & 1);
	for (int i = 0; i < QPS; i++) {
		connect_qp(play->qp[i]->qp, play->qp[i ^ 1]->qp);
		/* All slots belong to the program, as libmlx4 leaves them. */
		for (uint32_t slot = 0; slot < SLOTS && play->qp[i]->qp->sq.count && !play->five;
		     slot++)
			play->stage->arena[play->qp[i]->qp->sq.buffer - ARENA_BASE +
					   (slot << SLOT_SHIFT)] = 0x80;
	}
}

/* ---- the program's requests, receives and doorbells ---- */

/*
 * Writes a request into the ring, round its end if it must, and counts it in the doorbell record.
 */
static void post(struct play *play, int index, uint8_t *bytes, size_t length)
{
	const struct hca_qp *qp = play->qp[index]->qp;
	const size_t ring_bytes = (size_t)qp->sq.count << qp->sq.shift;
	const size_t start = (size_t)(play->posted[index] & (qp->sq.count - 1)) << qp->sq.shift;
	uint8_t *ring = play->stage->arena + (qp->sq.buffer - ARENA_BASE);

	if (!play->five)
		bytes[0] = (uint8_t)((bytes[0] & 0x7f) | (play->posted[index] & SLOTS ? 0x80 : 0));
	for (size_t i = 0; i < length; i++)
		ring[(start + i) % ring_bytes] = bytes[i];
	play->posted[index] += play->five ? ((bytes[7] & 0x3fu) + 3) / 4 : 1;
	if (play->five)
		record_here(play, index)[1] = htobe32(play->posted[index] & 0xffff);
}

static bool can_send(struct play *play, int index)
{
	return play->qp[index] && play->qp[index]->qp->sq.count;
}

static void post_raw(struct play *play, struct input *input, int index)
{
	uint8_t bytes[256] = { 0 };

	take_bytes(input, bytes, 1 + take8(input));
	post(play, index, bytes, sizeof(bytes));
}

static void put32(uint8_t *at, uint32_t value)
{
	value = htobe32(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(uint8_t *at, uint64_t value)
{
	value = htobe64(value);
	memcpy(at, &value, sizeof(value));
}

/* A piece of memory, which is registered in most cases. */
static void put_sge(struct play *play, struct input *input, uint8_t *at)
{
	uint8_t flags = take8(input);

	put32(at, take16(input) & (flags & 1 ? 0xffff : 0xfff));
	put32(at + 4, flags & 2 ? take32(input) : play->mr->key);
	put64(at + 8, play->stage->scratch + take16(input));
}

/* Writes what libmlx4 has before the remote address. Returns its length in bytes. */
static size_t put_head4(struct play *play, int index, uint8_t flags, uint8_t *wqe)
{
	put32(wqe + 8, play->xrc_srq->obj.number << 8 | (flags & 0xe));
	if (types[index] != IBV_QPT_UD)
		return 16;
	wqe[16] = 1;
	wqe[16 + 7] = (uint8_t)play->stage->machine.device[0].port[1].lid;
	put32(wqe + 16 + 32, play->qp[index ^ 1] ? play->qp[index ^ 1]->qp->qpn : 0);
	return 64;
}

/* The same for libmlx5. */
static size_t put_head5(struct play *play, int index, uint8_t flags, uint8_t *wqe)
{
	wqe[11] = flags & 0xa;
	if (types[index] == IBV_QPT_XRC_SEND) {
		put32(wqe + 16, play->xrc_srq->obj.number);
		return 32;
	}
	if (types[index] != IBV_QPT_UD)
		return 16;
	put32(wqe + 16 + 8, play->qp[index ^ 1] ? play->qp[index ^ 1]->qp->qpn : 0);
	wqe[16 + 15] = (uint8_t)play->stage->machine.device[0].port[1].lid;
	return 64;
}

/* A request as the provider would write it, with some of its bytes changed. */
static void post_good(struct play *play, struct input *input, int index)
{
	static const uint8_t opcodes[] = { 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x00 };
	uint8_t wqe[256] = { 0 };
	uint8_t opcode = opcodes[take8(input) % sizeof(opcodes)];
	uint8_t flags = take8(input);
	size_t at = (play->five ? put_head5 : put_head4)(play, index, flags, wqe);

	wqe[3] = opcode;
	if (types[index] != IBV_QPT_UD && opcode != 0x0a && opcode != 0x0b && opcode) {
		put64(wqe + at, play->stage->scratch + (take16(input) & ~7u));
		put32(wqe + at + 8, play->mr->key);
		at += opcode == 0x11 || opcode == 0x12 ? 32 : 16;
	}
	for (int i = 0; i < (flags >> 4 & 3); i++, at += 16)
		put_sge(play, input, wqe + at);
	wqe[7] = (uint8_t)(at / 16);
	for (int changes = flags >> 6; changes; changes--)
		wqe[take8(input)] ^= take8(input);
	post(play, index, wqe, sizeof(wqe));
}

/*
 * Fills the receive queue of QP @index and both SRQs. Writes a count that may be wrong to their
 * doorbell records.
 */
static void post_receives(struct play *play, struct input *input, int index)
{
	uint8_t sges[64];
	uint32_t count = take8(input);

	for (int i = 0; i < 4; i++)
		put_sge(play, input, sges + 16 * i);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		if (play->qp[index] && play->qp[index]->qp->rq.count)
			memcpy(play->stage->arena + (play->qp[index]->qp->rq.buffer - ARENA_BASE) +
				       slot * 64,
			       sges, 64);
		for (int srq = 0; srq < 2; srq++) {
			uint8_t *at = play->stage->arena + SRQ_AT + srq * 0x2000 + slot * 64;

			at[2] = 0;
			at[3] = (uint8_t)((slot + 1) % SLOTS);
			memcpy(at + 16, sges, 48);
		}
	}
	*record_here(play, index) = htobe32(count);
	*record_here(play, QPS + 1) = htobe32(count);
	*record_here(play, QPS + 2) = htobe32(count);
}

static void modify(struct play *play, struct input *input, int index)
{
	static const uint32_t masks[] = { IBV_QP_STATE, IBV_QP_STATE | IBV_QP_CUR_STATE, 0x1fffff };
	struct ib_uverbs_modify_qp request;

	take_bytes(input, &request, 32);
	memset((uint8_t *)&request + 32, 1, sizeof(request) - 32);
	request.attr_mask = masks[take8(input) % 3];
	request.qp_state = take8(input) % 8;
	if (play->qp[index])
		qp_modify(play->qp[index]->qp, &request);
}

static void destroy(struct play *play, int index)
{
	if (play->qp[index])
		object_destroy(&play->qp[index]->obj);
	play->qp[index] = NULL;
}

static void scribble(struct play *play, struct input *input)
{
	uint32_t at = take32(input) % (ARENA_SIZE - 64);

	take_bytes(input, play->stage->arena + at, 1 + take8(input) % 63);
}

static void act(struct play *play, struct input *input)
{
	uint8_t what = take8(input);
	int index = what >> 4 & 7;

	switch (what & 0xf) {
	case 0:
		modify(play, input, index);
		break;
	case 1:
		destroy(play, index);
		break;
	case 2:
		scribble(play, input);
		break;
	case 3:
		/* how far the program has polled */
		*record_here(play, QPS) = htobe32(take32(input));
		break;
	case 4:
		record_here(play, QPS)[1] = htobe32(take32(input)); /* what the CQ is armed for */
		break;
	case 5:
	case 6:
		post_receives(play, input, index);
		break;
	case 7:
		play->stage->machine.device[0].faults.rate[take8(input) % FAULT_KINDS] =
			(uint32_t)take8(input) << 12;
		break;
	case 8:
		if (can_send(play, index))
			post_raw(play, input, index);
		break;
	case 9:
	case 10:
		stage_turn(play->stage);
		break;
	default:
		if (can_send(play, index))
			post_good(play, input, index);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct play play = { .stage = stage_begin() };

	set_up(&play, take8(&input));
	for (int i = 0; input.left && i < 300; i++)
		act(&play, &input);
	for (int i = 0; i < 4; i++)
		stage_turn(play.stage);
	stage_end(play.stage);
	return 0;
}
