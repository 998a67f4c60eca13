/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Where two features of an adapter meet: atomics and errors, SRQs and draining or errors, CQs that
 * are resized or overrun and events, messages that are posted together and failures.
 */
#include <harness/emulated.h>
#include <e2e/pair.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES  PAIR_BYTES
#define TARGET 64 /* offset of an atomic's memory */

/* A request for an atomic with one mistake, and the status that the mistake has. */
enum mistake { KEY, ALIGNMENT, ACCESS, LENGTH, LOCAL_KEY, MISTAKES };

static const enum ibv_wc_status status_of[MISTAKES] = {
	[KEY] = IBV_WC_REM_ACCESS_ERR, [ALIGNMENT] = IBV_WC_REM_INV_REQ_ERR,
	[ACCESS] = IBV_WC_REM_ACCESS_ERR, [LENGTH] = IBV_WC_LOC_LEN_ERR,
	[LOCAL_KEY] = IBV_WC_LOC_PROT_ERR,
};

static struct ibv_send_wr wrong_atomic(const struct pair *pair, enum ibv_wr_opcode opcode,
				       enum mistake mistake)
{
	const unsigned int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	struct ibv_mr *mr = MADE(ibv_reg_mr(pair->b->pd, pair->b->buffer, RIG_BUFFER, access));
	struct ibv_send_wr wr = pair_wr(pair, opcode, 0, TARGET, sizeof(uint64_t));

	if (mistake == ALIGNMENT)
		wr.wr.atomic.remote_addr += 4;
	if (mistake == ACCESS)
		wr.wr.atomic.rkey = mr->rkey;
	wr.wr.atomic.rkey += mistake == KEY;
	wr.sg_list->lkey += mistake == LOCAL_KEY;
	wr.sg_list->length -= mistake == LENGTH;
	wr.wr.atomic.swap = 7;
	return wr;
}

static void must_change_nothing(enum ibv_wr_opcode opcode, enum mistake mistake)
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wrong = wrong_atomic(&pair, opcode, mistake),
			   next = pair_wr(&pair, opcode, 0, TARGET, sizeof(uint64_t));

	/* The wrong request swaps a 0, or adds 7. */
	wrong.wr.atomic.compare_add = opcode == IBV_WR_ATOMIC_CMP_AND_SWP ? 0 : 7;
	next.wr.atomic = wrong.wr.atomic;
	next.wr.atomic.rkey = pair.b->mr->rkey;
	must_eq(rig_post(pair.qa, &wrong), 0);
	must_eq(rig_post(pair.qa, &next), 0);
	rig_must_complete(pair.a->cq, wrong.wr_id, status_of[mistake]);
	rig_must_complete(pair.a->cq, next.wr_id, IBV_WC_WR_FLUSH_ERR);
	for (size_t i = 0; i < 2 * sizeof(uint64_t); i++)
		must_eq(pair.b->buffer[TARGET + i], 0);
}

ROW("an atomic that is refused changes no memory, nor does the next one")
{
	for (int mistake = 0; mistake < MISTAKES; mistake++) {
		/* libmlx5 sets the length of an atomic itself. */
		if (mistake == LENGTH && emulated_is_mlx5())
			continue;
		must_change_nothing(IBV_WR_ATOMIC_FETCH_AND_ADD, (enum mistake)mistake);
		must_change_nothing(IBV_WR_ATOMIC_CMP_AND_SWP, (enum mistake)mistake);
	}
}

ROW("a QP in SQD takes messages from its SRQ, and tells its last one")
{
	struct pair pair = { .a = rig_host(0), .b = rig_host(1) };
	struct ibv_srq *srq = MADE(rig_srq(pair.b, 4));

	if (!emulated_drains())
		row_skip("this adapter has no SQD");
	pair.qa = rig_qp(pair.a, IBV_QPT_RC, NULL);
	pair.qb = rig_qp(pair.b, IBV_QPT_RC, srq);
	rig_connect(pair.a, pair.qa, pair.b, pair.qb);
	must_eq(rig_post_srq(pair.b, srq, 0, BYTES, 1), 0);
	must_eq(rig_to_state(pair.qb, IBV_QPS_SQD), 0);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
	must_eq(rig_to_state(pair.qb, IBV_QPS_ERR), 0);
	rig_must_hear(pair.b, IBV_EVENT_QP_LAST_WQE_REACHED, pair.qb);
}

ROW("a CQ that is resized overruns at its new size")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, 1);

	must_eq(ibv_resize_cq(pair.a->cq, 3), 0);
	must_eq(pair.a->cq->cqe, 3);
	for (int i = 0; i < 5; i++)
		must_eq(rig_post(pair.qa, &wr), 0);
	rig_must_hear(pair.a, IBV_EVENT_CQ_ERR, pair.a->cq);
	rig_must_hear(pair.a, IBV_EVENT_QP_FATAL, pair.qa);
}

/* A pair whose receiver has a small CQ for receives, and one message too many. */
struct overrun {
	struct pair pair;
	struct ibv_cq *small;
};

static struct overrun overrun(void)
{
	struct overrun o = { .pair = { .a = rig_host(0), .b = rig_host(1) } };
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .send_cq = o.pair.b->cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_send_wr wr = rig_wr(o.pair.a, IBV_WR_SEND, 0, BYTES);

	o.small = attr.recv_cq = MADE(ibv_create_cq(o.pair.b->ctx, 1, NULL, NULL, 0));
	o.pair.qa = rig_qp(o.pair.a, IBV_QPT_RC, NULL);
	o.pair.qb = MADE(ibv_create_qp(o.pair.b->pd, &attr));
	rig_connect(o.pair.a, o.pair.qa, o.pair.b, o.pair.qb);
	pair_must_receive(&o.pair, o.small->cqe + 2);
	for (int i = 0; i < o.small->cqe + 2; i++)
		must_eq(rig_post(o.pair.qa, &wr), 0);
	return o;
}

ROW("a receiver whose CQ overruns fails without another message")
{
	struct overrun o = overrun();

	rig_must_hear(o.pair.b, IBV_EVENT_CQ_ERR, o.small);
	rig_must_hear(o.pair.b, IBV_EVENT_QP_FATAL, o.pair.qb);
}

ROW("a CQ that overran is destroyed with its unread event")
{
	struct overrun o = overrun();

	must(rig_readable(o.pair.b->ctx->async_fd, RIG_PATIENCE_MS));
	must_eq(ibv_destroy_qp(o.pair.qb), 0);
	must_eq(ibv_destroy_cq(o.small), 0);
	rig_must_hear_nothing(o.pair.b->ctx, 10);
}

/* The error completes the receive. The end of the QP does not flush it once more. */
ROW("a receive of an SRQ that is too short completes once")
{
	struct pair pair = pair_up(IBV_QPT_XRC_SEND);

	must_eq(pair_post_recv(&pair, 0, BYTES - 1, 1), 0);
	must_eq(pair_post_recv(&pair, 0, BYTES, 2), 0);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_REM_INV_REQ_ERR);
	rig_must_complete(pair.b->cq, 1, IBV_WC_LOC_LEN_ERR);
	must_eq(rig_state(pair.qb), IBV_QPS_ERR);
	rig_must_be_quiet(pair.b->cq, 5);
}

/* ---- short messages that are posted together ---- */

#define BUNDLE 16u
#define EACH   256u

/* Each of another length, and a third of them inline. */
static void post_bundle(const struct pair *pair)
{
	struct ibv_send_wr wr[BUNDLE];

	pair_pattern(pair->a->buffer, BUNDLE * EACH, 3);
	memset(pair->b->buffer, 0, BUNDLE * EACH);
	for (uint32_t i = 0; i < BUNDLE; i++) {
		must_eq(pair_post_recv(pair, i * EACH, EACH, i), 0);
		wr[i] = pair_wr(pair, IBV_WR_SEND, i * EACH, 0, 1 + i * 16);
		if (i < BUNDLE / 2) /* of less than 128 bytes */
			wr[i].send_flags |= IBV_SEND_INLINE;
		wr[i].next = i + 1 < BUNDLE ? &wr[i + 1] : NULL;
	}
	must_eq(rig_post(pair->qa, wr), 0);
}

static void bundle_must_arrive(enum ibv_qp_type type)
{
	struct pair pair = pair_up(type);
	struct ibv_wc wc;

	post_bundle(&pair);
	for (uint32_t i = 0; i < BUNDLE; i++) {
		const uint32_t length = 1 + i * 16;

		wc = rig_must_complete(pair.b->cq, i, IBV_WC_SUCCESS);
		must_eq(wc.byte_len, length);
		must(!memcmp(pair.b->buffer + i * EACH, pair.a->buffer + i * EACH, length));
		must_eq(pair.b->buffer[i * EACH + length], 0);
		rig_must_succeed(pair.a->cq);
	}
}

ROW("short messages that are posted together arrive one after another")
{
	bundle_must_arrive(IBV_QPT_RC);
	bundle_must_arrive(IBV_QPT_XRC_SEND);
}

#define FIRST 3u /* so many of BATCH messages have a receive when they are posted */
#define BATCH 5u

/* Takes so many messages that each entry of the receive queue has the address of a receive. */
static void use_each_entry(const struct pair *pair)
{
	for (uint64_t i = 0; i < 4 * RIG_DEPTH; i++) {
		must_eq(pair_post_recv(pair, i % RIG_DEPTH * EACH, EACH, i), 0);
		pair_must_send(pair, EACH, IBV_WC_SUCCESS);
		rig_must_complete(pair->b->cq, i, IBV_WC_SUCCESS);
	}
	memset(pair->b->buffer, 0, RIG_BUFFER);
}

static void post_batch(const struct pair *pair, unsigned int flags)
{
	struct ibv_send_wr wr[BATCH];

	pair_pattern(pair->a->buffer, BATCH * EACH, 5);
	for (uint32_t i = 0; i < BATCH; i++) {
		wr[i] = pair_wr(pair, IBV_WR_SEND, i * EACH, 0, 1 + i);
		wr[i].send_flags |= flags;
		wr[i].next = i + 1 < BATCH ? &wr[i + 1] : NULL;
	}
	must_eq(rig_post(pair->qa, wr), 0);
}

static void receives_must_get_batch(enum ibv_qp_type type, unsigned int flags)
{
	const size_t fresh = RIG_DEPTH * EACH; /* behind the buffers of the entries' old receives */
	struct pair pair = pair_up(type);

	use_each_entry(&pair);
	for (uint32_t i = 0; i < FIRST; i++)
		must_eq(pair_post_recv(&pair, fresh + i * EACH, EACH, i), 0);
	post_batch(&pair, flags);
	for (uint32_t i = 0; i < FIRST; i++)
		rig_must_complete(pair.b->cq, i, IBV_WC_SUCCESS);
	rig_must_be_quiet(pair.b->cq, 5);
	for (uint32_t i = FIRST; i < BATCH; i++)
		must_eq(pair_post_recv(&pair, fresh + i * EACH, EACH, i), 0);
	for (uint32_t i = FIRST; i < BATCH; i++)
		rig_must_complete(pair.b->cq, i, IBV_WC_SUCCESS);
	for (uint32_t i = 0; i < BATCH; i++)
		must(!memcmp(pair.b->buffer + fresh + i * EACH, pair.a->buffer + i * EACH, 1 + i));
	for (size_t i = 0; i < fresh; i++)
		must_eq(pair.b->buffer[i], 0);
}

ROW("no short message comes into the memory of a receive that was used before")
{
	receives_must_get_batch(IBV_QPT_RC, 0);
	receives_must_get_batch(IBV_QPT_RC, IBV_SEND_INLINE);
	receives_must_get_batch(IBV_QPT_XRC_SEND, 0);
	receives_must_get_batch(IBV_QPT_XRC_SEND, IBV_SEND_INLINE);
}

ROW("of messages that are posted together those before a lost buffer arrive")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr last = pair_wr(&pair, IBV_WR_SEND, 0, 0, 10), wr[4];

	rig_use(pair.b, rig_map(4 * 4096), 4 * 4096);
	for (uint32_t i = 0; i < 4; i++) {
		must_eq(pair_post_recv(&pair, i * 4096, 10, i), 0);
		wr[i] = last;
		wr[i].wr_id = i;
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	must(!munmap(pair.b->buffer + 2 * 4096, 4096));
	pair_pattern(pair.a->buffer, 10, 7);
	must_eq(rig_post(pair.qa, wr), 0);
	for (uint64_t i = 0; i < 2; i++) {
		rig_must_complete(pair.a->cq, i, IBV_WC_SUCCESS);
		rig_must_complete(pair.b->cq, i, IBV_WC_SUCCESS);
		must(!memcmp(pair.b->buffer + i * 4096, pair.a->buffer, 10));
	}
	rig_must_complete(pair.a->cq, 2, IBV_WC_REM_OP_ERR);
	rig_must_complete(pair.a->cq, 3, IBV_WC_WR_FLUSH_ERR);
	rig_must_complete(pair.b->cq, 2, IBV_WC_LOC_PROT_ERR);
	rig_must_complete(pair.b->cq, 3, IBV_WC_WR_FLUSH_ERR);
}
