/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What must hold on a wire that fails. The test that starts this program sets the faults of the
 * wire.
 */
#include <e2e/pair.h>

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
	return pair_by(type, link, link);
}

/* Every message arrives once, with its own contents. There are always two spare buffers. */
static bool all_arrive_once(enum ibv_qp_type type)
{
	struct pair pair = patient_pair(type, 7);
	struct ibv_wc wc;

	CHECK(!pair_post_recv(&pair, 0, 4096, 0) && !pair_post_recv(&pair, 0, 4096, 1));
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const uint32_t length = 1 + i * 20;
		struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_SEND_WITH_IMM, 0, 0, length);

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

CASE(sends_arrive_once)
{
	return all_arrive_once(IBV_QPT_RC) && all_arrive_once(IBV_QPT_XRC_SEND);
}

/*
 * An atomic addition is executed, and its answer is lost. The repetition must not add again, and
 * must get the first answer.
 */
CASE(additions_once)
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);
	uint64_t value;

	for (uint64_t i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, 8);

		wr.wr.atomic.compare_add = 3;
		CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
		memcpy(&value, pair.a->buffer, sizeof(value));
		CHECK(value == 3 * i);
	}
	memcpy(&value, pair.b->buffer, sizeof(value));
	return value == 3 * MESSAGES;
}

CASE(reads_and_writes_once)
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);

	for (int i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = pair_wr(&pair, i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
						0, 0, 8192);

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

	CHECK(!pair_post_recv(&pair, 0, 4096, 0));
	return pair_send(&pair, 100, IBV_WC_RETRY_EXC_ERR) && rig_quiet(pair.b->cq, 5);
}

/*
 * A request has one attempt, and as many repetitions as rnr_retry allows. The test that starts this
 * program counts them.
 */
CASE(receiver_never_ready)
{
	struct pair pair = patient_pair(IBV_QPT_RC, 4);

	return pair_send(&pair, 100, IBV_WC_RNR_RETRY_EXC_ERR);
}

/* Three of the pieces that the emulator moves, and loses, at once. */
#define LONG (3u * 256 << 10)

/* A message of LONG equal bytes, from any region of a to any region of b. */
static bool send_long(const struct pair *pair, int byte)
{
	struct ibv_send_wr wr = pair_wr(pair, IBV_WR_SEND, 0, 0, LONG);

	memset(pair->a->mr->addr, byte, LONG);
	wr.sg_list->addr = (uint64_t)(uintptr_t)pair->a->mr->addr;
	return rig_send(pair->qa, &wr, IBV_WC_SUCCESS);
}

static int post_long(const struct pair *pair)
{
	const struct ibv_sge sge = { (uint64_t)(uintptr_t)pair->b->mr->addr, LONG,
				     pair->b->mr->lkey };

	return rig_post_sge(pair->qb, NULL, sge, 0);
}

static bool long_arrived(const struct pair *pair, const struct ibv_wc *wc)
{
	return wc->status == IBV_WC_SUCCESS && wc->byte_len == LONG &&
	       !memcmp(pair->b->mr->addr, pair->a->mr->addr, LONG);
}

/* A pair whose regions have LONG bytes. */
static struct pair long_pair(enum ibv_qp_type type)
{
	struct pair pair = patient_pair(type, 7);

	pair.a->mr = MADE(ibv_reg_mr(pair.a->pd, rig_map(LONG), LONG, IBV_ACCESS_LOCAL_WRITE));
	pair.b->mr = MADE(ibv_reg_mr(pair.b->pd, rig_map(LONG), LONG, IBV_ACCESS_LOCAL_WRITE));
	return pair;
}

/*
 * On an unreliable connection lost packets are not repeated. A message with a lost packet does not
 * arrive at all.
 */
CASE(unreliable_messages_are_whole)
{
	struct pair pair = long_pair(IBV_QPT_UC);
	int arrived = 0;
	struct ibv_wc wc;

	CHECK(!post_long(&pair));
	for (int i = 1; i <= 60; i++) {
		CHECK(send_long(&pair, i));
		/* The message arrives before its sender has the completion. */
		if (!ibv_poll_cq(pair.b->cq, 1, &wc))
			continue;
		CHECK(long_arrived(&pair, &wc) && !post_long(&pair));
		arrived++;
	}
	return arrived > 0 && arrived < 60;
}

/* A piece whose answer is lost is sent again, and the message goes on after it. */
CASE(long_messages_once)
{
	struct pair pair = long_pair(IBV_QPT_RC);
	struct ibv_wc wc;

	for (int i = 1; i <= 40; i++) {
		CHECK(!post_long(&pair) && send_long(&pair, i));
		CHECK(rig_poll(pair.b->cq, &wc) && long_arrived(&pair, &wc));
	}
	return rig_quiet(pair.b->cq, 20);
}

/* Datagrams have no sequence numbers, so a repeated one arrives twice. */
CASE(datagram_comes_twice)
{
	struct pair pair = patient_pair(IBV_QPT_UD, 7);
	struct ibv_send_wr wr = pair_datagram(&pair, NULL, 100);

	CHECK(!pair_post_recv(&pair, 0, 4096, 0) && !pair_post_recv(&pair, 0, 4096, 1));
	CHECK(!rig_post(pair.qa, &wr));
	return rig_completes(pair.b->cq, 0, IBV_WC_SUCCESS) &&
	       rig_completes(pair.b->cq, 1, IBV_WC_SUCCESS) && rig_quiet(pair.b->cq, 5);
}

/* Every message is delayed by 20 ms. */
CASE(a_delayed_message_comes_late)
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);
	double start = seconds();

	CHECK(!pair_post_recv(&pair, 0, 4096, 0) && pair_send(&pair, 100, IBV_WC_SUCCESS));
	return rig_completes(pair.b->cq, 0, IBV_WC_SUCCESS) && seconds() - start >= 0.02;
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
	return ibv_create_qp(host->pd, &attr);
}
