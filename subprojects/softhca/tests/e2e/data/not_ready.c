/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receivers without a receive: what waits for one, how often and how long. */
#include <e2e/pair.h>

#include <string.h>
#include <unistd.h>

/*
 * Before each of two retries the sender waits for the receiver's RNR timer, 20.48 ms (code 22). Its
 * own timer is 10 us (code 1).
 */
ROW("the receiver's RNR timer counts")
{
	struct rig_link link_a = rig_link_to(0, 0), link_b = link_a;
	struct pair pair;
	double start;

	link_a.rnr_retry = 2;
	link_b.min_rnr_timer = 22;
	pair = pair_by(IBV_QPT_RC, link_a, link_b);
	start = seconds();
	pair_must_send(&pair, 10, IBV_WC_RNR_RETRY_EXC_ERR);
	must(seconds() - start >= 2 * 0.02048);
}

/*
 * A send waits for a receive buffer. So does a write with immediate: its data needs none, but its
 * immediate does. rnr_retry 7 means endless retries.
 */
ROW("a request waits for a receive")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM };

	for (int i = 0; i < 2; i++) {
		struct ibv_send_wr wr = pair_wr(&pair, opcodes[i], 0, 300, 10);
		struct ibv_wc wc;

		wr.imm_data = htobe32(5);
		must_eq(rig_post(pair.qa, &wr), 0);
		rig_must_be_quiet(pair.a->cq, 20);
		must_eq(rig_post_recv(pair.b, pair.qb, 0, i ? 0 : 10, 4), 0);
		wc = rig_must_complete(pair.b->cq, 4, IBV_WC_SUCCESS);
		must(!i || wc.imm_data == htobe32(5));
		rig_must_succeed(pair.a->cq);
	}
}

/* Only the last packet has the immediate. */
ROW("the data of a long write with immediate do not wait for a receive")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 0);
	struct ibv_sge from = rig_region(pair.a, rig_map(RIG_LONG), RIG_LONG),
		       to = rig_region(pair.b, rig_map(RIG_LONG), RIG_LONG);
	uint8_t *begin = (uint8_t *)(uintptr_t)to.addr;

	memset((void *)(uintptr_t)from.addr, 1, RIG_LONG);
	*wr.sg_list = from;
	wr.wr.rdma.remote_addr = to.addr;
	wr.wr.rdma.rkey = to.lkey;
	must_eq(rig_post(pair.qa, &wr), 0);
	must(rig_changes(begin + RIG_LONG / 2));
	rig_must_be_quiet(pair.a->cq, 5);
	must_eq(begin[RIG_LONG - 1], 0);
	must_eq(rig_post_recv(pair.b, pair.qb, 0, 0, 1), 0);
	must_eq(rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS).byte_len, RIG_LONG);
	rig_must_complete(pair.a->cq, wr.wr_id, IBV_WC_SUCCESS);
	must_eq(begin[RIG_LONG - 1], 1);
}

#define CODES 32u /* of min_rnr_timer */

/* Seconds, by the InfiniBand Architecture Specification. Code 0 is the longest. */
static double rnr_time(unsigned int code)
{
	if (!code)
		return 0.65536;
	if (code == 1)
		return 1e-5;
	return code % 2 ? 1.5e-5 * (1u << (code - 1) / 2) : 1e-5 * (1u << code / 2);
}

/* A sender whose peer has this timer, and no receives. */
static struct ibv_qp *waiting_sender(const struct pair *hosts, uint8_t code, uint8_t rnr_retry)
{
	struct ibv_qp *qa = rig_qp(hosts->a, IBV_QPT_RC, NULL),
		      *qb = rig_qp(hosts->b, IBV_QPT_RC, NULL);
	struct rig_link to_a = rig_link_to(qa->qp_num, hosts->a->lid),
			to_b = rig_link_to(qb->qp_num, hosts->b->lid);

	to_a.min_rnr_timer = code;
	to_b.rnr_retry = rnr_retry;
	must_eq(rig_bring_up(qb, &to_a), 0);
	must_eq(rig_bring_up(qa, &to_b), 0);
	return qa;
}

/*
 * A sender for each code tries twice. The one with the shortest time begins, so they end in the
 * order of their times.
 */
ROW("each RNR timer has its time")
{
	struct pair pair = { .a = rig_host(0), .b = rig_host(1) };
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 10);
	struct ibv_qp *sender[CODES];
	double start[CODES];

	must(pair.a->cq->cqe >= (int)CODES);
	for (uint8_t code = 0; code < CODES; code++)
		sender[code] = waiting_sender(&pair, code, 1);
	for (unsigned int i = 1; i <= CODES; i++) {
		wr.wr_id = i % CODES;
		start[i % CODES] = seconds();
		must_eq(rig_post(sender[i % CODES], &wr), 0);
	}
	for (unsigned int i = 1; i <= CODES; i++) {
		rig_must_complete(pair.a->cq, i % CODES, IBV_WC_RNR_RETRY_EXC_ERR);
		must(seconds() - start[i % CODES] >= rnr_time(i % CODES));
	}
}

/* Five messages find no receive at first. One message may be tried again only three times. */
ROW("each message has all RNR retries")
{
	struct rig_link link_a = rig_link_to(0, 0), link_b = link_a;
	struct pair pair;

	link_a.rnr_retry = 3;
	link_b.min_rnr_timer = 30; /* 328 ms, so that a message waits for a second */
	pair = pair_by(IBV_QPT_RC, link_a, link_b);
	for (uint64_t i = 1; i <= 5; i++) {
		struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 10);

		must_eq(rig_post(pair.qa, &wr), 0);
		usleep(20000);
		must_eq(rig_post_recv(pair.b, pair.qb, 0, 10, i), 0);
		rig_must_complete(pair.b->cq, i, IBV_WC_SUCCESS);
		rig_must_complete(pair.a->cq, wr.wr_id, IBV_WC_SUCCESS);
	}
}

/*
 * The QP waits for 655 ms, and so does another one from before. Returns the pair, whose next
 * completion at a is late if the QP goes on waiting.
 */
static struct pair pair_waiting(void)
{
	struct rig_link link_a = rig_link_to(0, 0), link_b = link_a;
	struct ibv_send_wr wr;
	struct pair pair;

	link_b.min_rnr_timer = 0;
	pair = pair_by(IBV_QPT_RC, link_a, link_b);
	wr = rig_wr(pair.a, IBV_WR_SEND, 0, 10);
	wr.wr_id = 655;
	must_eq(rig_post(waiting_sender(&pair, 0, 1), &wr), 0);
	rig_must_be_quiet(pair.a->cq, 20);
	wr.wr_id = 1;
	must_eq(rig_post(pair.qa, &wr), 0);
	rig_must_be_quiet(pair.a->cq, 20);
	return pair;
}

ROW("a QP that is reset while it waits for a receive begins anew")
{
	struct pair pair = pair_waiting();

	must_eq(rig_to_state(pair.qa, IBV_QPS_RESET), 0);
	must_eq(rig_to_state(pair.qb, IBV_QPS_RESET), 0);
	rig_connect(pair.a, pair.qa, pair.b, pair.qb);
	pair_must_receive(&pair, 1);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
	rig_must_complete(pair.a->cq, 655, IBV_WC_RNR_RETRY_EXC_ERR);
}

ROW("a QP that fails while it waits for a receive is flushed at once")
{
	struct pair pair = pair_waiting();

	must_eq(rig_to_state(pair.qa, IBV_QPS_ERR), 0);
	rig_must_complete(pair.a->cq, 1, IBV_WC_WR_FLUSH_ERR);
	rig_must_complete(pair.a->cq, 655, IBV_WC_RNR_RETRY_EXC_ERR);
	rig_must_be_quiet(pair.a->cq, 20);
}

ROW("a sender that waits for a receive gives up when its receiver is reset")
{
	struct pair pair = pair_waiting();

	must_eq(rig_to_state(pair.qb, IBV_QPS_RESET), 0);
	rig_must_complete(pair.a->cq, 655, IBV_WC_RNR_RETRY_EXC_ERR);
	rig_must_complete(pair.a->cq, 1, IBV_WC_RETRY_EXC_ERR);
}
