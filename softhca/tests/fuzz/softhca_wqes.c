/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Hostile rings: work requests, receive buffers, doorbell records and completion queues with any
 * contents, on QPs of every type, while the QPs change their states. Afterwards the context ends,
 * and no object may be left.
 */
#include "softhca_hca.h"

#include <endian.h>
#include <fcntl.h>
#include <rdma/mlx4-abi.h>
#include <rdma/mlx5-abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

struct program {
	struct fuzz_hca *hca;
	struct hca_pd *pd;
	struct hca_mr *mr;
	struct hca_cq *cq;
	struct hca_xrcd_handle *domain;
	struct hca_srq *srq, *xrc_srq;
	struct hca_qp_handle *qp[QPS];
	uint32_t posted[QPS]; /* slots or units */
	bool mlx5;	      /* the rings are libmlx5's */
};

static uint64_t record(int index)
{
	return ARENA_BASE + RECORDS_AT + (uint64_t)index * 64;
}

static uint32_t *record_in_arena(struct program *prog, int index)
{
	return (void *)(prog->hca->arena + RECORDS_AT + index * 64);
}

/* ---- the objects ---- */

static void create_objects(struct program *prog, uint32_t entry)
{
	struct hca_context *ctx = prog->hca->ctx;
	const struct mr_range range = { prog->hca->scratch, SCRATCH_SIZE, prog->hca->scratch,
					0xf };
	struct cq_request cq = { .cqe = 63, .place = { ARENA_BASE + CQ_AT, record(QPS), entry } };
	struct srq_request srq = { .max_wr = 15,
				   .max_sge = 3,
				   .place = { ARENA_BASE + SRQ_AT, record(QPS + 1), 0 } };

	prog->pd = object_new(ctx, HCA_PD, sizeof(*prog->pd));
	need(prog->pd != NULL, "no PD");
	need(!mr_create(ctx, prog->pd, &range, &prog->mr), "no MR");
	need(!cq_create(ctx, &cq, &prog->cq), "no CQ");
	need(!xrcd_open(ctx, -1, O_CREAT, &prog->domain), "no domain");
	srq.pd = prog->pd;
	need(!srq_create(ctx, &srq, &prog->srq), "no SRQ");
	srq.xrc = true;
	srq.domain = prog->domain;
	srq.cq = prog->cq;
	srq.place.buffer += 0x2000;
	srq.place.record = record(QPS + 2);
	need(!srq_create(ctx, &srq, &prog->xrc_srq), "no SRQ");
}

/* The rings at the offsets where the provider would place them. */
static int take_qp(struct hca_context *ctx, int index, bool mlx5, struct qp_request *request)
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

	return ctx->device->model->take_qp(mlx5 ? (const void *)&of_mlx5 : &of_mlx4,
					   mlx5 ? sizeof(of_mlx5) : sizeof(of_mlx4), request->type,
					   request->srq, ctx->cqe_version,
					   &ctx->device->machine->settings.limits, &request->caps,
					   &request->rings);
}

static void create_qp(struct program *prog, int index, bool shared_receive)
{
	struct qp_request request = {
		.type = types[index], .caps = { .max_send_wr = SLOTS, .max_send_sge = 2 },
	};

	if (request.type == IBV_QPT_XRC_RECV) {
		request.domain = prog->domain;
	} else {
		request.pd = prog->pd;
		request.send_cq = prog->cq;
	}
	if (request.pd && request.type != IBV_QPT_XRC_SEND) {
		request.recv_cq = prog->cq;
		request.srq = shared_receive ? prog->srq : NULL;
		request.caps.max_recv_wr = shared_receive ? 0 : SLOTS;
		request.caps.max_recv_sge = shared_receive ? 0 : 4;
	}
	need(!take_qp(prog->hca->ctx, index, prog->mlx5, &request), "no rings");
	need(!qp_create(prog->hca->ctx, &request, &prog->qp[index]), "no QP");
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

static void set_up(struct program *prog, uint8_t flags)
{
	prog->mlx5 = prog->hca->ctx->device->model == &connectx5;
	prog->hca->ctx->cqe_version = prog->mlx5 && flags & 2;
	create_objects(prog, !prog->mlx5 ? 32 : flags & 4 ? 128 : 64);
	for (int i = 0; i < QPS; i++)
		create_qp(prog, i, flags & 1);
	for (int i = 0; i < QPS; i++) {
		connect_qp(prog->qp[i]->qp, prog->qp[i ^ 1]->qp);
		/* All slots belong to the program, as libmlx4 leaves them. */
		for (uint32_t slot = 0; slot < SLOTS && prog->qp[i]->qp->sq.count && !prog->mlx5;
		     slot++)
			prog->hca->arena[prog->qp[i]->qp->sq.buffer - ARENA_BASE +
					   (slot << SLOT_SHIFT)] = 0x80;
	}
}

/* ---- the program's requests, receives and doorbells ---- */

/*
 * Writes a request into the ring, round its end if it must, and counts it in the doorbell record.
 */
static void post(struct program *prog, int index, uint8_t *bytes, size_t length)
{
	const struct hca_qp *qp = prog->qp[index]->qp;
	const size_t ring_bytes = (size_t)qp->sq.count << qp->sq.shift;
	const size_t start = (size_t)(prog->posted[index] & (qp->sq.count - 1)) << qp->sq.shift;
	uint8_t *ring = prog->hca->arena + (qp->sq.buffer - ARENA_BASE);

	if (!prog->mlx5)
		bytes[0] = (uint8_t)((bytes[0] & 0x7f) | (prog->posted[index] & SLOTS ? 0x80 : 0));
	for (size_t i = 0; i < length; i++)
		ring[(start + i) % ring_bytes] = bytes[i];
	prog->posted[index] += prog->mlx5 ? ((bytes[7] & 0x3fu) + 3) / 4 : 1;
	if (prog->mlx5)
		record_in_arena(prog, index)[1] = htobe32(prog->posted[index] & 0xffff);
}

static bool can_send(struct program *prog, int index)
{
	return prog->qp[index] && prog->qp[index]->qp->sq.count;
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

/* Writes a scatter element, which is registered in most cases. */
static void put_sge(struct program *prog, struct input *input, uint8_t *at)
{
	uint8_t flags = take(input, 1);

	put32(at, take(input, 2) & (flags & 1 ? 0xffff : 0xfff));
	put32(at + 4, flags & 2 ? take(input, 4) : prog->mr->key);
	put64(at + 8, prog->hca->scratch + take(input, 2));
}

/* Writes the segments of libmlx4 before the remote address. Returns their length in bytes. */
static size_t put_head_mlx4(struct program *prog, int index, uint8_t flags, uint8_t *wqe)
{
	put32(wqe + 8, prog->xrc_srq->obj.number << 8 | (flags & 0xe));
	if (types[index] != IBV_QPT_UD)
		return 16;
	wqe[16] = 1;
	wqe[16 + 7] = (uint8_t)prog->hca->machine.device[0].port[1].lid;
	put32(wqe + 16 + 32, prog->qp[index ^ 1] ? prog->qp[index ^ 1]->qp->qpn : 0);
	return 64;
}

/* The same for libmlx5. */
static size_t put_head_mlx5(struct program *prog, int index, uint8_t flags, uint8_t *wqe)
{
	wqe[11] = flags & 0xa;
	if (types[index] == IBV_QPT_XRC_SEND) {
		put32(wqe + 16, prog->xrc_srq->obj.number);
		return 32;
	}
	if (types[index] != IBV_QPT_UD)
		return 16;
	put32(wqe + 16 + 8, prog->qp[index ^ 1] ? prog->qp[index ^ 1]->qp->qpn : 0);
	wqe[16 + 15] = (uint8_t)prog->hca->machine.device[0].port[1].lid;
	return 64;
}

/* A request as the provider would write it, with some of its bytes or its beginning changed. */
static void post_wqe(struct program *prog, struct input *input, int index)
{
	static const uint8_t opcodes[] = { 0x08, 0x09, 0x0a, 0x0b, 0x10, 0x11, 0x12, 0x00 };
	uint8_t wqe[256] = { 0 };
	uint8_t opcode = opcodes[take(input, 1) % sizeof(opcodes)];
	uint8_t flags = take(input, 1);
	size_t at = (prog->mlx5 ? put_head_mlx5 : put_head_mlx4)(prog, index, flags, wqe);

	wqe[3] = opcode;
	if (types[index] != IBV_QPT_UD && opcode != 0x0a && opcode != 0x0b && opcode) {
		put64(wqe + at, prog->hca->scratch + (take(input, 2) & ~7u));
		put32(wqe + at + 8, prog->mr->key);
		at += opcode == 0x11 || opcode == 0x12 ? 32 : 16;
	}
	for (int i = 0; i < (flags >> 4 & 3); i++, at += 16)
		put_sge(prog, input, wqe + at);
	wqe[7] = (uint8_t)(at / 16);
	if (flags >> 6 == 3)
		take_bytes(input, wqe, 64);
	else
		for (int changes = flags >> 6; changes; changes--)
			wqe[take(input, 1)] ^= take(input, 1);
	post(prog, index, wqe, sizeof(wqe));
}

/*
 * Fills the receive queue of QP @index and both SRQs. Writes a count that may be wrong to their
 * doorbell records.
 */
static void post_receives(struct program *prog, struct input *input, int index)
{
	uint8_t sges[64];
	uint32_t count = take(input, 1);

	for (int i = 0; i < 4; i++)
		put_sge(prog, input, sges + 16 * i);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		if (prog->qp[index] && prog->qp[index]->qp->rq.count)
			memcpy(prog->hca->arena + (prog->qp[index]->qp->rq.buffer - ARENA_BASE) +
				       slot * 64,
			       sges, 64);
		for (int srq = 0; srq < 2; srq++) {
			uint8_t *at = prog->hca->arena + SRQ_AT + srq * 0x2000 + slot * 64;

			at[2] = 0;
			at[3] = (uint8_t)((slot + 1) % SLOTS);
			memcpy(at + 16, sges, 48);
		}
	}
	*record_in_arena(prog, index) = htobe32(count);
	*record_in_arena(prog, QPS + 1) = htobe32(count);
	*record_in_arena(prog, QPS + 2) = htobe32(count);
}

static void modify(struct program *prog, struct input *input, int index)
{
	static const uint32_t masks[] = { IBV_QP_STATE, IBV_QP_STATE | IBV_QP_CUR_STATE, 0x1fffff };
	struct ib_uverbs_modify_qp request;

	take_bytes(input, &request, 32);
	memset((uint8_t *)&request + 32, 1, sizeof(request) - 32);
	request.attr_mask = masks[take(input, 1) % 3];
	request.qp_state = take(input, 1) % 8;
	if (prog->qp[index])
		qp_modify(prog->qp[index]->qp, &request);
}

static void destroy(struct program *prog, int index)
{
	if (prog->qp[index])
		object_destroy(&prog->qp[index]->obj);
	prog->qp[index] = NULL;
}

static void write_arena(struct program *prog, struct input *input)
{
	uint32_t at = take(input, 4) % (ARENA_SIZE - 64);

	take_bytes(input, prog->hca->arena + at, 1 + take(input, 1) % 63);
}

static void one_step(struct program *prog, struct input *input)
{
	uint8_t what = take(input, 1);
	int index = what >> 4 & 7;

	switch (what & 0xf) {
	case 0:
		modify(prog, input, index);
		break;
	case 1:
		destroy(prog, index);
		break;
	case 2:
		write_arena(prog, input);
		break;
	case 3:
		/* the consumer index */
		*record_in_arena(prog, QPS) = htobe32(take(input, 4));
		break;
	case 4:
		record_in_arena(prog, QPS)[1] = htobe32(take(input, 4)); /* the arm word */
		break;
	case 5:
	case 6:
		post_receives(prog, input, index);
		break;
	case 7:
		prog->hca->machine.device[0].faults.rate[take(input, 1) % FAULT_KINDS] =
			(uint32_t)take(input, 1) << 12;
		break;
	case 8:
	case 9:
		fuzz_hca_turn(prog->hca);
		break;
	default:
		if (can_send(prog, index))
			post_wqe(prog, input, index);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	struct program prog = { .hca = fuzz_hca_begin() };
	const struct hca_counts *counts = &prog.hca->machine.device[0].port[1].counts;
	const uint64_t sent = counts->sent;

	set_up(&prog, take(&input, 1));
	for (int i = 0; input.left && i < 300; i++)
		one_step(&prog, &input);
	for (int i = 0; i < 4; i++)
		fuzz_hca_turn(prog.hca);
	fuzz_hca_end(prog.hca);
	count_accepted(counts->sent != sent);
	return 0;
}
