/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What one QP does exactly: WQEs after RESET, states after errors, RNR timers, PSNs and MTU. */
#include <softhca/tests/e2e/pair.h>

#include <string.h>

/* ---- RESET ---- */

static bool reset_both(struct pair *pair)
{
	return !rig_to_state(pair->qa, IBV_QPS_RESET) && !rig_to_state(pair->qb, IBV_QPS_RESET);
}

/* After RESET the provider starts at the first WQE again. So must the HCA. */
PAIR_CASE(reset_begins_at_the_first_receive, IBV_QPT_RC)
{
	for (uint64_t i = 1; i <= 3; i++)
		CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, i));
	CHECK(pair_send(&pair, 10, IBV_WC_SUCCESS) &&
	      rig_completes(pair.b->cq, 1, IBV_WC_SUCCESS) && reset_both(&pair));
	rig_connect(pair.a, pair.qa, pair.b, pair.qb);
	CHECK(!rig_post_recv(pair.b, pair.qb, 500, 100, 9));
	memset(pair.a->buffer, 0x77, 10);
	CHECK(pair_send(&pair, 10, IBV_WC_SUCCESS) &&
	      rig_completes(pair.b->cq, 9, IBV_WC_SUCCESS));
	return pair.b->buffer[500] == 0x77 && pair.b->buffer[0] != 0x77;
}

PAIR_CASE(reset_forgets_the_attributes, IBV_QPT_RC)
{
	struct ibv_qp_attr attr = rig_attr(pair.qa);

	CHECK(attr.dest_qp_num == pair.qb->qp_num && attr.ah_attr.dlid && reset_both(&pair));
	attr = rig_attr(pair.qa);
	return !attr.dest_qp_num && !attr.rq_psn && !attr.sq_psn && !attr.qp_access_flags &&
	       !attr.timeout && !attr.ah_attr.dlid;
}

/* A doorbell of any QP makes the adapter look at the rings of all QPs on its page. */
static bool doorbell(struct host *host)
{
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL);
	const struct rig_link link = rig_link_to(0, 0);
	struct ibv_send_wr wr = rig_wr(host, IBV_WR_SEND, 0, 10);

	CHECK(!rig_bring_up(qp, &link) && !rig_to_state(qp, IBV_QPS_ERR));
	return rig_send(qp, &wr, IBV_WC_WR_FLUSH_ERR) && !ibv_destroy_qp(qp);
}

/* Requests that were not sent before RESET are not sent afterwards. */
PAIR_CASE(reset_begins_at_the_first_send, IBV_QPT_RC)
{
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	for (int i = 0; i < 3; i++)
		CHECK(!rig_post(pair.qa, &wr)); /* there is no buffer */
	CHECK(reset_both(&pair) && doorbell(pair.a));
	rig_connect(pair.a, pair.qa, pair.b, pair.qb);
	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1) &&
	      !rig_post_recv(pair.b, pair.qb, 0, 100, 2));
	CHECK(rig_quiet(pair.b->cq, 5) && pair_send(&pair, 20, IBV_WC_SUCCESS));
	CHECK(rig_poll(pair.b->cq, &wc) && wc.wr_id == 1 && wc.byte_len == 20);
	return rig_quiet(pair.a->cq, 5) && rig_quiet(pair.b->cq, 5);
}

/* ---- errors of the send queue ---- */

/* An unreliable QP goes to SQE, not to ERR. From there a modify returns it to RTS. */
static bool send_queue_error(enum ibv_qp_type type)
{
	struct pair pair = pair_up(type);
	/* A UC QP ignores the address handle. */
	struct ibv_send_wr wr = pair_datagram(&pair, NULL, 10);

	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1));
	wr.sg_list->lkey++;
	CHECK(rig_send(pair.qa, &wr, IBV_WC_LOC_PROT_ERR));
	CHECK(rig_state(pair.qa) == IBV_QPS_SQE && rig_state(pair.qb) == IBV_QPS_RTS);
	wr.sg_list->lkey--;
	CHECK(rig_send(pair.qa, &wr, IBV_WC_WR_FLUSH_ERR));
	CHECK(!rig_to_state(pair.qa, IBV_QPS_RTS) && rig_state(pair.qa) == IBV_QPS_RTS);
	CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS) &&
	      rig_completes(pair.b->cq, 1, IBV_WC_SUCCESS));
	return !ibv_destroy_ah(wr.wr.ud.ah) && pair_tear_down(&pair);
}

CASE(unreliable_qps_go_to_sqe)
{
	return send_queue_error(IBV_QPT_UC) && send_queue_error(IBV_QPT_UD);
}

/* ---- a receiver that is not ready ---- */

/*
 * Before each of two retries the sender waits for the receiver's RNR timer, 20.48 ms (code 22). Its
 * own timer is 10 us (code 1).
 */
CASE(the_receivers_rnr_timer_counts)
{
	struct rig_link link_a = rig_link_to(0, 0), link_b = link_a;
	struct pair pair;
	double start;

	link_a.rnr_retry = 2;
	link_b.min_rnr_timer = 22;
	pair = pair_by(IBV_QPT_RC, link_a, link_b);
	start = seconds();
	CHECK(pair_send(&pair, 10, IBV_WC_RNR_RETRY_EXC_ERR));
	return seconds() - start >= 2 * 0.02048 && pair_tear_down(&pair);
}

/*
 * A send waits for a receive buffer. So does a write with immediate: its data needs none, but its
 * immediate does. rnr_retry 7 means endless retries.
 */
PAIR_CASE(a_request_waits_for_a_receive, IBV_QPT_RC)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM };

	for (int i = 0; i < 2; i++) {
		struct ibv_send_wr wr = pair_wr(&pair, opcodes[i], 0, 300, 10);
		struct ibv_wc wc;

		wr.imm_data = htobe32(5);
		CHECK(!rig_post(pair.qa, &wr) && rig_quiet(pair.a->cq, 20));
		CHECK(!rig_post_recv(pair.b, pair.qb, 0, i ? 0 : 10, 4));
		CHECK(rig_poll_success(pair.b->cq, &wc) && wc.wr_id == 4);
		CHECK((!i || wc.imm_data == htobe32(5)) && rig_poll_success(pair.a->cq, &wc));
	}
	return true;
}

/* ---- packets ---- */

/*
 * A packet longer than the receiver's MTU, or too short in the middle, is an invalid request. A
 * message of one packet within both MTUs arrives.
 */
CASE(packets_that_do_not_fit_the_receivers_mtu_are_refused)
{
	static const enum ibv_mtu mtus[] = { IBV_MTU_2048, IBV_MTU_1024, IBV_MTU_2048 };

	for (int i = 0; i < 2; i++) {
		struct rig_link link_a = rig_link_to(0, 0), link_b = link_a;
		struct pair pair;

		link_a.mtu = mtus[i];
		link_b.mtu = mtus[i + 1];
		pair = pair_by(IBV_QPT_RC, link_a, link_b);
		for (uint64_t id = 1; id <= 2; id++)
			CHECK(!rig_post_recv(pair.b, pair.qb, 0, 4096, id));
		CHECK(pair_send(&pair, 1024, IBV_WC_SUCCESS) &&
		      rig_completes(pair.b->cq, 1, IBV_WC_SUCCESS));
		CHECK(pair_send(&pair, 1025, IBV_WC_REM_INV_REQ_ERR) &&
		      rig_state(pair.qb) == IBV_QPS_ERR && pair_tear_down(&pair));
	}
	return true;
}

/* At both ends a message counts as many PSNs as it has packets of the MTU. */
PAIR_CASE(sequence_numbers_count_packets, IBV_QPT_RC)
{
	static const uint32_t lengths[] = { 0, 1, 1024, 1025, 4096, 5000 };
	static const uint32_t packets[] = { 1, 1, 1, 2, 4, 5 };
	uint32_t psn = RIG_PSN;
	struct ibv_wc wc;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		psn += packets[i];
		CHECK(!rig_post_recv(pair.b, pair.qb, 0, 8192, 1) &&
		      pair_send(&pair, lengths[i], IBV_WC_SUCCESS));
		CHECK(rig_poll(pair.b->cq, &wc) && wc.byte_len == lengths[i]);
		CHECK(rig_attr(pair.qa).sq_psn == psn && rig_attr(pair.qb).rq_psn == psn);
	}
	return rig_attr(pair.qa).rq_psn == RIG_PSN && rig_attr(pair.qb).sq_psn == RIG_PSN;
}
