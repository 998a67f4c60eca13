/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What must hold on a wire that fails. The test that starts this program sets the faults of the
 * wire.
 */
#include <e2e/pair.h>

#include <errno.h>
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
static void must_arrive_once(enum ibv_qp_type type)
{
	struct pair pair = patient_pair(type, 7);
	struct ibv_wc wc;

	must_eq(pair_post_recv(&pair, 0, 4096, 0), 0);
	must_eq(pair_post_recv(&pair, 0, 4096, 1), 0);
	for (uint32_t i = 0; i < MESSAGES; i++) {
		const uint32_t length = 1 + i * 20;
		struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_SEND_WITH_IMM, 0, 0, length);

		must_eq(pair_post_recv(&pair, 0, 4096, i + 2), 0);
		memset(pair.a->buffer, (int)i + 1, 4096);
		wr.imm_data = htobe32(i);
		rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
		wc = rig_must_complete(pair.b->cq, i, IBV_WC_SUCCESS);
		must_eq(wc.imm_data, htobe32(i));
		must_eq(wc.byte_len, length);
		must(!memcmp(pair.b->buffer, pair.a->buffer, wc.byte_len));
	}
	rig_must_be_quiet(pair.b->cq, 20);
}

ROW("sends arrive once")
{
	must_arrive_once(IBV_QPT_RC);
	must_arrive_once(IBV_QPT_XRC_SEND);
}

/*
 * An atomic addition is executed, and its answer is lost. The repetition must not add again, and
 * must get the first answer.
 */
ROW("additions once")
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);
	uint64_t value;

	for (uint64_t i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0, 8);

		wr.wr.atomic.compare_add = 3;
		rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
		memcpy(&value, pair.a->buffer, sizeof(value));
		must_eq(value, 3 * i);
	}
	memcpy(&value, pair.b->buffer, sizeof(value));
	must_eq(value, 3 * MESSAGES);
}

ROW("a read or write that is posted once arrives whole")
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);

	for (int i = 0; i < MESSAGES; i++) {
		struct ibv_send_wr wr = pair_wr(&pair, i & 1 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE,
						0, 0, 8192);

		memset(i & 1 ? pair.b->buffer : pair.a->buffer, i + 1, 8192);
		rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
		must(!memcmp(pair.a->buffer, pair.b->buffer, 8192));
		must_eq(pair.a->buffer[8191], (uint8_t)(i + 1));
	}
}

/* All packets are lost. The sender gets an error, and the receiver nothing. */
ROW("nothing arrives")
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);

	must_eq(pair_post_recv(&pair, 0, 4096, 0), 0);
	pair_must_send(&pair, 100, IBV_WC_RETRY_EXC_ERR);
	rig_must_be_quiet(pair.b->cq, 5);
}

/*
 * A request has one attempt, and as many repetitions as rnr_retry allows. The test that starts this
 * program counts them.
 */
ROW("receiver never ready")
{
	struct pair pair = patient_pair(IBV_QPT_RC, 4);

	pair_must_send(&pair, 100, IBV_WC_RNR_RETRY_EXC_ERR);
}

/* A message of RIG_LONG equal bytes. */
static void send_long(const struct pair *pair, int byte)
{
	memset(pair->a->buffer, byte, RIG_LONG);
	pair_must_send(pair, RIG_LONG, IBV_WC_SUCCESS);
}

static int post_long(const struct pair *pair)
{
	return pair_post_recv(pair, 0, RIG_LONG, 0);
}

static void must_be_long(const struct pair *pair, struct ibv_wc wc)
{
	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(wc.byte_len, RIG_LONG);
	must(!memcmp(pair->b->buffer, pair->a->buffer, RIG_LONG));
}

/* A pair whose buffers have RIG_LONG bytes. */
static struct pair long_pair(enum ibv_qp_type type)
{
	struct pair pair = patient_pair(type, 7);

	rig_use(pair.a, rig_map(RIG_LONG), RIG_LONG);
	rig_use(pair.b, rig_map(RIG_LONG), RIG_LONG);
	return pair;
}

/*
 * On an unreliable connection lost packets are not repeated. A message with a lost packet does not
 * arrive at all.
 */
ROW("unreliable messages are whole")
{
	struct pair pair = long_pair(IBV_QPT_UC);
	int arrived = 0;
	struct ibv_wc wc;

	must_eq(post_long(&pair), 0);
	for (int i = 1; i <= 60; i++) {
		send_long(&pair, i);
		/* The message arrives before its sender has the completion. */
		if (!ibv_poll_cq(pair.b->cq, 1, &wc))
			continue;
		must_be_long(&pair, wc);
		must_eq(post_long(&pair), 0);
		arrived++;
	}
	must(arrived > 0);
	must(arrived < 60);
}

/* A piece whose answer is lost is sent again, and the message goes on after it. */
ROW("long messages once")
{
	struct pair pair = long_pair(IBV_QPT_RC);

	for (int i = 1; i <= 40; i++) {
		must_eq(post_long(&pair), 0);
		send_long(&pair, i);
		must_be_long(&pair, rig_must_succeed(pair.b->cq));
	}
	rig_must_be_quiet(pair.b->cq, 20);
}

/* Datagrams have no sequence numbers, so a repeated one arrives twice. */
ROW("datagram comes twice")
{
	struct pair pair = patient_pair(IBV_QPT_UD, 7);
	struct ibv_send_wr wr = pair_datagram(&pair, NULL, 100);

	must_eq(pair_post_recv(&pair, 0, 4096, 0), 0);
	must_eq(pair_post_recv(&pair, 0, 4096, 1), 0);
	must_eq(rig_post(pair.qa, &wr), 0);
	rig_must_complete(pair.b->cq, 0, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
	rig_must_be_quiet(pair.b->cq, 5);
}

/* Every message is delayed by 20 ms. */
ROW("a delayed message comes late")
{
	struct pair pair = patient_pair(IBV_QPT_RC, 7);
	double start = seconds();

	must_eq(pair_post_recv(&pair, 0, 4096, 0), 0);
	pair_must_send(&pair, 100, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 0, IBV_WC_SUCCESS);
	must(seconds() - start >= 0.02);
}

/* The next CREATE_QP fails with ENOMEM, and the one after it succeeds. */
ROW("one create fails")
{
	struct host *host = rig_host(0);
	struct ibv_qp_init_attr attr = {
		.send_cq = host->cq, .recv_cq = host->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1 },
	};

	must(!ibv_create_qp(host->pd, &attr));
	must_eq(errno, ENOMEM);
	MADE(ibv_create_qp(host->pd, &attr));
}
