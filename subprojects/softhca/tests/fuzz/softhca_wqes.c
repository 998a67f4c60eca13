/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Hostile rings: work requests, receive buffers, doorbell records and completion queues with any
 * contents, on QPs of every type, while the QPs change their states. A flag connects them to
 * another machine, whose requests and answers come with any contents. Afterwards the context ends,
 * and no object may be left.
 */
#include "softhca_hca.h"

#include <endian.h>
#include <fcntl.h>
#include <rdma/mlx4-abi.h>
#include <rdma/mlx5-abi.h>
#include <string.h>
#include <unistd.h>

#include <base/bytes.h>
#include <objects/objects.h>
#include <qp/qp.h>
#include <wire/far.h>
#include <wire/wire.h>

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

/* The objects of the input that runs. */
static struct fuzz_hca *hca;
static struct hca_pd *pd;
static struct hca_mr *mr;
static struct hca_cq *cq;
static struct hca_xrcd_handle *domain;
static struct hca_srq *srq, *xrc_srq;
static struct hca_qp_handle *qps[QPS];
static uint32_t posted[QPS]; /* slots or units */
static bool mlx5;	     /* the rings are libmlx5's */

static uint64_t record(int index)
{
	return ARENA_BASE + RECORDS_AT + (uint64_t)index * 64;
}

static uint8_t *in_arena(uint64_t address)
{
	return hca->arena + (address - ARENA_BASE);
}

static uint32_t *record_in_arena(int index)
{
	return (void *)in_arena(record(index));
}

/* ---- the objects ---- */

static void create_objects(uint32_t entry)
{
	struct hca_context *ctx = hca->ctx;
	const struct mr_range range = { hca->scratch, SCRATCH_SIZE, hca->scratch, 0xf };
	struct cq_request new_cq = { .cqe = 63,
				     .place = { { ARENA_BASE + CQ_AT }, { record(QPS) }, entry } };
	struct srq_request new_srq = { .max_wr = 15,
				       .max_sge = 3,
				       .place = { { ARENA_BASE + SRQ_AT },
						  { record(QPS + 1) } } };

	new_srq.pd = pd = object_new(ctx, HCA_PD, sizeof(*pd), NULL);
	must(pd != NULL, "no PD");
	must(!mr_create(ctx, pd, &range, &mr), "no MR");
	must(!cq_create(ctx, &new_cq, &cq), "no CQ");
	must(!xrcd_open(ctx, -1, O_CREAT, &domain), "no domain");
	must(!srq_create(ctx, &new_srq, &srq), "no SRQ");
	new_srq.xrc = true;
	new_srq.domain = domain;
	new_srq.cq = cq;
	new_srq.place.buffer.address += 0x2000;
	new_srq.place.record.address = record(QPS + 2);
	must(!srq_create(ctx, &new_srq, &xrc_srq), "no SRQ");
}

/* The rings at the offsets where the provider would place them. */
static int take_qp(int index, struct qp_request *request)
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

	return hca->ctx->device->model->take_qp(
		mlx5 ? (const void *)&of_mlx5 : &of_mlx4, mlx5 ? sizeof(of_mlx5) : sizeof(of_mlx4),
		request->type, request->srq, hca->ctx->cqe_version, &hca->machine.settings.limits,
		&request->caps, &request->rings);
}

static void create_qp(int index, bool shared_receive)
{
	struct qp_request request = {
		.type = types[index], .caps = { .max_send_wr = SLOTS, .max_send_sge = 2 },
	};

	if (request.type == IBV_QPT_XRC_RECV) {
		request.domain = domain;
	} else {
		request.pd = pd;
		request.send_cq = cq;
	}
	if (request.pd && request.type != IBV_QPT_XRC_SEND) {
		request.recv_cq = cq;
		request.srq = shared_receive ? srq : NULL;
		request.caps.max_recv_wr = shared_receive ? 0 : SLOTS;
		request.caps.max_recv_sge = shared_receive ? 0 : 4;
	}
	must(!take_qp(index, &request), "no rings");
	must(!qp_create(hca->ctx, &request, &qps[index]), "no QP");
}

static void connect_qp(struct hca_qp *qp, const struct hca_qp *peer, uint16_t dlid)
{
	qp->attr = (struct hca_qp_attr){
		.dest_qpn = peer->qpn,
		.dest.dlid = dlid,
		.port = 1,
		.access = 0xf,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.path_mtu = IBV_MTU_1024,
		.timeout = 1,
		.retry_cnt = 1,
		.rnr_retry = 1,
		.min_rnr_timer = 1,
	};
	qp->state = qp->type == IBV_QPT_XRC_RECV ? IBV_QPS_RTR : IBV_QPS_RTS;
}

static void set_up(uint8_t flags)
{
	mlx5 = hca->ctx->device->model == &connectx5;
	hca->ctx->cqe_version = mlx5 && flags & 2;
	memset(posted, 0, sizeof(posted));
	create_objects(!mlx5 ? 32 : flags & 4 ? 128 : 64);
	for (int i = 0; i < QPS; i++)
		create_qp(i, flags & 1);
	for (int i = 0; i < QPS; i++) {
		const struct ring *sq = &qps[i]->qp->sq;

		connect_qp(qps[i]->qp, qps[i ^ 1]->qp,
			   flags & 8 ? fuzz_lid(hca, FUZZ_FAR)
				     : hca->machine.device[0].port[1].lid);
		/* All slots belong to the program, as libmlx4 leaves them. */
		for (uint32_t slot = 0; slot < SLOTS && sq->count && !mlx5; slot++)
			*in_arena(sq->buffer.address + (slot << SLOT_SHIFT)) = 0x80;
	}
}

/* ---- the program's requests, receives and doorbells ---- */

/*
 * Writes a request into the ring, round its end if it must, and counts it in the doorbell record.
 */
static void post(int index, uint8_t *bytes, size_t length)
{
	const struct ring *sq = &qps[index]->qp->sq;
	const size_t ring_bytes = (size_t)sq->count << sq->shift;
	const size_t start = (size_t)(posted[index] & (sq->count - 1)) << sq->shift;

	if (!mlx5)
		bytes[0] = (uint8_t)((bytes[0] & 0x7f) | (posted[index] & SLOTS ? 0x80 : 0));
	for (size_t i = 0; i < length; i++)
		*in_arena(sq->buffer.address + (start + i) % ring_bytes) = bytes[i];
	posted[index] += mlx5 ? ((bytes[7] & 0x3fu) + 3) / 4 : 1;
	if (mlx5)
		record_in_arena(index)[1] = htobe32(posted[index] & 0xffff);
}

/* Writes a scatter element, which is registered in most cases. */
static void put_sge(struct input *input, uint8_t *at)
{
	uint8_t flags = take(input, 1);

	put32(at, take(input, 2) & (flags & 1 ? 0xffff : 0xfff));
	put32(at + 4, flags & 2 ? take(input, 4) : mr->key);
	put64(at + 8, hca->scratch + take(input, 2));
}

static uint32_t peer_number(int index)
{
	return qps[index ^ 1] ? qps[index ^ 1]->qp->qpn : 0;
}

/* Writes the segments of libmlx4 before the remote address. Returns their length in bytes. */
static size_t put_head_mlx4(int index, uint8_t flags, uint8_t *wqe)
{
	put32(wqe + 8, xrc_srq->obj.number << 8 | (flags & 0xe));
	if (types[index] != IBV_QPT_UD)
		return 16;
	wqe[16] = 1;
	wqe[16 + 7] = (uint8_t)hca->machine.device[0].port[1].lid;
	put32(wqe + 16 + 32, peer_number(index));
	return 64;
}

/* The same for libmlx5. */
static size_t put_head_mlx5(int index, uint8_t flags, uint8_t *wqe)
{
	wqe[11] = flags & 0xa;
	if (types[index] == IBV_QPT_XRC_SEND) {
		put32(wqe + 16, xrc_srq->obj.number);
		return 32;
	}
	if (types[index] != IBV_QPT_UD)
		return 16;
	put32(wqe + 16 + 8, peer_number(index));
	wqe[16 + 15] = (uint8_t)hca->machine.device[0].port[1].lid;
	return 64;
}

static void change_bytes(struct input *input, int count, uint8_t *wqe)
{
	for (int i = 0; i < count; i++) {
		uint8_t at = take(input, 1);

		wqe[at] ^= take(input, 1);
	}
}

/* A request as the provider would write it, with some of its bytes or its beginning changed. */
static void post_wqe(struct input *input, int index)
{
	static const uint8_t opcodes[] = { OP_WRITE, OP_WRITE_IMM, OP_SEND,	 OP_SEND_IMM,
					   OP_READ,  OP_ATOMIC_CS, OP_ATOMIC_FA, OP_NOP };
	uint8_t wqe[256] = { 0 };
	uint8_t opcode = opcodes[take(input, 1) % sizeof(opcodes)];
	uint8_t flags = take(input, 1);
	size_t at = (mlx5 ? put_head_mlx5 : put_head_mlx4)(index, flags, wqe);

	wqe[3] = opcode;
	if (types[index] != IBV_QPT_UD && opcode != OP_SEND && opcode != OP_SEND_IMM &&
	    opcode != OP_NOP) {
		put64(wqe + at, hca->scratch + (take(input, 2) & ~7u));
		put32(wqe + at + 8, mr->key);
		at += opcode == OP_ATOMIC_CS || opcode == OP_ATOMIC_FA ? 32 : 16;
	}
	for (int i = 0; i < (flags >> 4 & 3); i++, at += 16)
		put_sge(input, wqe + at);
	wqe[7] = (uint8_t)(at / 16);
	if (flags >> 6 == 3)
		take_bytes(input, wqe, 64);
	else
		change_bytes(input, flags >> 6, wqe);
	post(index, wqe, sizeof(wqe));
}

/*
 * Fills the receive queue of QP @index and both SRQs. Writes a count that may be wrong to their
 * doorbell records.
 */
static void post_receives(struct input *input, int index)
{
	uint8_t sges[64];
	uint32_t count = take(input, 1);

	for (int i = 0; i < 4; i++)
		put_sge(input, sges + 16 * i);
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		if (qps[index] && qps[index]->qp->rq.count)
			memcpy(in_arena(qps[index]->qp->rq.buffer.address + slot * 64), sges,
			       64);
		for (uint32_t ring = SRQ_AT; ring <= SRQ_AT + 0x2000; ring += 0x2000) {
			uint8_t *at = hca->arena + ring + slot * 64;

			at[2] = 0;
			at[3] = (uint8_t)((slot + 1) % SLOTS);
			memcpy(at + 16, sges, 48);
		}
	}
	*record_in_arena(index) = htobe32(count);
	*record_in_arena(QPS + 1) = htobe32(count);
	*record_in_arena(QPS + 2) = htobe32(count);
}

static void modify(struct input *input, int index)
{
	static const uint32_t masks[] = { IBV_QP_STATE, IBV_QP_STATE | IBV_QP_CUR_STATE, 0x1fffff };
	struct ib_uverbs_modify_qp request;

	take_bytes(input, &request, 32);
	memset((uint8_t *)&request + 32, 1, sizeof(request) - 32);
	request.attr_mask = masks[take(input, 1) % 3];
	request.qp_state = take(input, 1) % 8;
	if (qps[index])
		qp_modify(qps[index]->qp, &request);
}

static void destroy(int index)
{
	if (qps[index])
		object_destroy(&qps[index]->obj);
	qps[index] = NULL;
}

static void write_arena(struct input *input)
{
	uint32_t at = take(input, 4) % (ARENA_SIZE - 64);

	take_bytes(input, hca->arena + at, 1 + take(input, 1) % 63);
}

static void set_fault(struct input *input)
{
	uint32_t kind = take(input, 1) % FAULT_KINDS;

	hca->machine.device[0].faults.rate[kind] = take(input, 1) << 12;
}

/* ---- what comes from another machine ---- */

/* Without this, answers are rarely waited for. */
static void read_from_far(void)
{
	static const uint8_t bytes[] = { 4, 0x10, 0, 0, 0, 0, 2, 0, 0 };
	struct input input = { bytes, sizeof(bytes) };

	post_wqe(&input, RC_A);
	fuzz_hca_turn(hca);
}

/* That the request has failed, but not how. */
static void fail_from_far(void)
{
	static const uint8_t bytes[] = { 8, FAILED };
	struct input input = { bytes, sizeof(bytes) };
	const struct hca_qp *qp = qps[RC_A]->qp;

	if (away_count(qp))
		fuzz_answer(hca, &input, qp);
}

/*
 * The program makes the oldest of four requests as long as all four while they are away. Then its
 * answer comes. Only libmlx5 has requests of several units.
 */
static void lengthen_before_answer(void)
{
	static const uint8_t write[] = { 0, 0, 0, 0 }, success[] = { 0, 0 };
	const struct hca_qp *qp = qps[RC_A]->qp;

	for (int i = 0; i < 4; i++)
		post_wqe(&(struct input){ write, sizeof(write) }, RC_A);
	fuzz_hca_turn(hca);
	if (!away_count(qp))
		return;
	in_arena(qp->sq.buffer.address)[7] = 16;
	fuzz_answer(hca, &(struct input){ success, sizeof(success) }, qp);
}

/* The HCA may look at any time how many receives there are. */
static bool fits(struct hca_srq *queue)
{
	srq_ready(queue);
	return (uint16_t)(queue->known - queue->consumed) <= queue->size;
}

/* No request is sent that was not posted, and no SRQ has more receives than slots. */
static void check_queues(void)
{
	must(fits(srq) && fits(xrc_srq), "receives that were not posted");
	for (int i = 0; i < QPS; i++) {
		const struct hca_qp *qp = qps[i] ? qps[i]->qp : NULL;

		must(!qp || (qp->sq.known - qp->sq.next <= qp->sq.count &&
			     qp->sq.known - sq_next(qp) <= qp->sq.count),
		     "requests that were not posted");
	}
}

static void hear_from_far(struct input *input, int index)
{
	const struct hca_qp *qp = qps[index] ? qps[index]->qp : NULL;

	if (!qp)
		return;
	if (away_count(qp))
		fuzz_answer(hca, input, qp);
	else
		fuzz_request(hca, input, qp, mr->key, xrc_srq->obj.number);
}

static void one_step(struct input *input)
{
	uint8_t what = take(input, 1);
	int index = what >> 4 & 7;

	switch (what & 0xf) {
	case 0:
		modify(input, index);
		break;
	case 1:
		destroy(index);
		break;
	case 2:
		write_arena(input);
		break;
	case 3:	/* the consumer index */
	case 4:	/* the arm word */
		record_in_arena(QPS)[(what & 0xf) - 3] = htobe32(take(input, 4));
		break;
	case 5:
	case 6:
		post_receives(input, index);
		break;
	case 7:
		set_fault(input);
		break;
	case 8:
	case 9:
		fuzz_hca_turn(hca);
		break;
	case 10:
	case 11:
		hear_from_far(input, index);
		break;
	default:
		if (qps[index] && qps[index]->qp->sq.count)
			post_wqe(input, index);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const uint64_t *sent, *received;
	uint64_t before;
	uint8_t flags;

	hca = fuzz_hca_begin();
	flags = take(&input, 1);
	sent = &hca->machine.device[0].port[1].counts.sent;
	received = &hca->machine.device[0].port[1].counts.received;
	before = *sent + *received;
	set_up(flags);
	if (flags & 16)
		read_from_far();
	if (flags & 32)
		fail_from_far();
	if (flags & 64)
		lengthen_before_answer();
	check_queues();
	for (int i = 0; input.left && i < 300; i++) {
		one_step(&input);
		check_queues();
	}
	for (int i = 0; i < 4; i++)
		fuzz_hca_turn(hca);
	fuzz_hca_end(hca);
	count_accepted(*sent + *received != before);
	return 0;
}
