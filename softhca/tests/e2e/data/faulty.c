/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What must hold on a wire that fails. The test that starts this program sets the faults of the
 * wire.
 */
#include <softhca/tests/e2e/pair.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES 200

/* 1 ms, with seven retries: if 10 % of the packets are lost, two in a million messages fail. */
static struct pair patient_pair(enum ibv_qp_type type, uint8_t rnr_retry)
{
	struct rig_link link = rig_link_to(0, 0);

	link.timeout = 8;
	link.retry_cnt = 7;
	link.rnr_retry = rnr_retry;
	return pair_up(type, &link);
}

/* Every message arrives once, with its own contents. There are always two spare buffers. */
static bool all_arrive_once(enum ibv_qp_type type)
{
	struct pair pair = patient_pair(type, 7);
	struct ibv_sge sge;
	struct ibv_wc wc;

	CHECK(!pair_post_recv(&pair, 0, 4096, 0) && !pair_post_recv(&pair, 0, 4096, 1));
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const uint32_t length = 1 + i * 20;
		struct ibv_send_wr wr =
			pair_remote_wr(&pair, &sge, IBV_WR_SEND_WITH_IMM, 0, 0, length);

		CHECK(!pair_post_recv(&pair, 0, 4096, i + 2));
		memset(pair.a->buffer, (int)i + 1, 4096);
		wr.imm_data = htobe32(i);
		CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
		CHECK(rig_poll_success(pair.b->cq, &wc) && wc.imm_data == htobe32(i));
		CHECK(wc.wr_id == i && wc.byte_len == length);
		CHECK(!memcmp(pair.b->buffer, pair.a->buffer, wc.byte_len));
	}
	return rig_quiet(pair.b->cq, 20);
}

CASE(sends_once)
{
	return all_arrive_once(IBV_QPT_RC);
}

CASE(xrc_sends_once)
{
	return all_arrive_once(IBV_QPT_XRC_SEND);
}

/*
 * An atomic addition is executed, and its answer is lost. The repetition must not add again, and
 * must get the first answer.
 */
CASE(additions_once)
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);
	struct ibv_sge sge;
	uint64_t value;

	for (uint64_t i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr =
			pair_remote_wr(&pair, &sge, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, 8);

		wr.wr.atomic.compare_add = 3;
		CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
		memcpy(&value, pair.a->buffer, sizeof(value));
		CHECK(value == 3 * i);
	}
	memcpy(&value, pair.b->buffer, sizeof(value));
	CHECK(value == 3 * MESSAGES);
	return true;
}

CASE(reads_and_writes)
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);
	struct ibv_sge sge;

	for (int i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = pair_remote_wr(
			&pair, &sge, i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 0, 0, 8192);

		memset(i & 1 ? pair.b->buffer : pair.a->buffer, i, 8192);
		CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
		CHECK(!memcmp(pair.a->buffer, pair.b->buffer, 8192) &&
		      pair.a->buffer[8191] == (uint8_t)i);
	}
	return true;
}

/* All packets are lost. The sender gets an error, and the receiver nothing. */
CASE(nothing_arrives)
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);
	struct ibv_sge sge;
	struct ibv_send_wr wr = pair_remote_wr(&pair, &sge, IBV_WR_SEND, 0, 0, 100);

	CHECK(!pair_post_recv(&pair, 0, 4096, 0));
	return rig_send(pair.qa, &wr, IBV_WC_RETRY_EXC_ERR) && rig_quiet(pair.b->cq, 5);
}

/*
 * A request has one attempt, and as many repetitions as rnr_retry allows. The test that starts this
 * program counts them.
 */
CASE(receiver_never_ready)
{
	struct pair pair = patient_pair(IBV_QPT_RC, 4);
	struct ibv_sge sge;
	struct ibv_send_wr wr = pair_remote_wr(&pair, &sge, IBV_WR_SEND, 0, 0, 100);

	return rig_send(pair.qa, &wr, IBV_WC_RNR_RETRY_EXC_ERR);
}

#define PIECE ((size_t)256 << 10) /* what the emulator moves at once, and loses as a whole */
#define LONG  (3 * PIECE)

/* A connection, and a region of LONG bytes at each end. */
struct long_pair {
	struct pair pair;
	struct ibv_mr *from, *to;
	struct ibv_sge sge;
};

static struct ibv_mr *long_region(struct host *host)
{
	return MADE(ibv_reg_mr(host->pd, calloc(1, LONG), LONG, IBV_ACCESS_LOCAL_WRITE));
}

static struct long_pair long_pair(enum ibv_qp_type type)
{
	struct long_pair p = { .pair = patient_pair(type, 7) };

	p.from = long_region(p.pair.a);
	p.to = long_region(p.pair.b);
	p.sge = (struct ibv_sge){ (uint64_t)(uintptr_t)p.from->addr, LONG, p.from->lkey };
	return p;
}

static int post_long(struct long_pair *p)
{
	const struct ibv_sge sge = { (uint64_t)(uintptr_t)p->to->addr, LONG, p->to->lkey };

	return rig_post_sge(p->pair.qb, NULL, sge, 0);
}

/* Sends a message of equal bytes. */
static bool send_long(struct long_pair *p, int byte)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
				  .sg_list = &p->sge, .num_sge = 1 };

	memset(p->from->addr, byte, LONG);
	return rig_send(p->pair.qa, &wr, IBV_WC_SUCCESS);
}

static bool long_arrived(const struct long_pair *p, const struct ibv_wc *wc)
{
	return wc->status == IBV_WC_SUCCESS && wc->byte_len == LONG &&
	       !memcmp(p->to->addr, p->from->addr, LONG);
}

/*
 * On an unreliable connection lost packets are not repeated. A message with a lost packet does not
 * arrive at all.
 */
CASE(unreliable_messages_are_whole)
{
	struct long_pair p = long_pair(IBV_QPT_UC);
	int arrived = 0;
	struct ibv_wc wc;

	CHECK(!post_long(&p));
	for (int i = 1; i <= 60; i++) {
		CHECK(send_long(&p, i));
		/* The message arrives before its sender has the completion. */
		if (!ibv_poll_cq(p.pair.b->cq, 1, &wc))
			continue;
		CHECK(long_arrived(&p, &wc) && !post_long(&p));
		arrived++;
	}
	CHECK(arrived > 0 && arrived < 60);
	return true;
}

/* A piece whose answer is lost is sent again, and the message goes on after it. */
CASE(long_messages_once)
{
	struct long_pair p = long_pair(IBV_QPT_RC);
	struct ibv_wc wc;

	for (int i = 1; i <= 40; i++) {
		CHECK(!post_long(&p) && send_long(&p, i));
		CHECK(rig_poll(p.pair.b->cq, &wc) && long_arrived(&p, &wc));
	}
	return rig_quiet(p.pair.b->cq, 20);
}

/* Datagrams have no sequence numbers, so a repeated one arrives twice. */
CASE(datagram_comes_twice)
{
	struct pair pair = patient_pair(IBV_QPT_UD, 7);
	struct ibv_sge sge;
	struct ibv_send_wr wr = pair_datagram(&pair, &sge, NULL, 100);
	struct ibv_wc wc;

	CHECK(!pair_post_recv(&pair, 0, 4096, 0) && !pair_post_recv(&pair, 0, 4096, 1));
	CHECK(!rig_post(pair.qa, &wr));
	for (uint64_t i = 0; i < 2; i++)
		CHECK(rig_poll_success(pair.b->cq, &wc) && wc.wr_id == i && wc.byte_len == 140);
	return rig_quiet(pair.b->cq, 5);
}

/* Every message is delayed by 20 ms. */
CASE(comes_late)
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);
	struct ibv_sge sge;
	struct ibv_send_wr wr = pair_remote_wr(&pair, &sge, IBV_WR_SEND, 0, 0, 100);
	double start = rig_now();
	struct ibv_wc wc;

	CHECK(!pair_post_recv(&pair, 0, 4096, 0) && !rig_post(pair.qa, &wr));
	CHECK(rig_poll_success(pair.b->cq, &wc));
	CHECK(rig_now() - start >= 0.02);
	return true;
}

/* The next CREATE_QP fails with ENOMEM, and the one after it succeeds. */
CASE(one_create_fails)
{
	struct host *host = rig_host(0);
	struct ibv_qp_init_attr attr = {
		.send_cq = host->cq, .recv_cq = host->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 },
	};

	CHECK(!ibv_create_qp(host->pd, &attr) && errno == ENOMEM);
	CHECK(ibv_create_qp(host->pd, &attr));
	return true;
}

RIG_MAIN
