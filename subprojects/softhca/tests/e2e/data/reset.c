/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The attributes of QPs, and QPs that are brought to RESET and up again: where their rings begin,
 * and which attributes go.
 */
#include <e2e/pair.h>

#include <string.h>

static void reset_both(struct pair *pair)
{
	must_eq(rig_to_state(pair->qa, IBV_QPS_RESET), 0);
	must_eq(rig_to_state(pair->qb, IBV_QPS_RESET), 0);
}

/* After RESET the provider starts at the first WQE again. So must the HCA. */
ROW("reset begins at the first receive")
{
	struct pair pair = pair_up(IBV_QPT_RC);

	for (uint64_t i = 1; i <= 3; i++)
		must_eq(rig_post_recv(pair.b, pair.qb, 0, 100, i), 0);
	pair_must_send(&pair, 10, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
	reset_both(&pair);
	rig_connect(pair.a, pair.qa, pair.b, pair.qb);
	must_eq(rig_post_recv(pair.b, pair.qb, 500, 100, 9), 0);
	memset(pair.a->buffer, 0x77, 10);
	pair_must_send(&pair, 10, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 9, IBV_WC_SUCCESS);
	must_eq(pair.b->buffer[500], 0x77);
	must(pair.b->buffer[0] != 0x77);
}

/* Each has its largest value. */
ROW("a query returns the attributes that were set")
{
	struct rig_link link = { .psn = 0xffffff, .timeout = 31, .retry_cnt = 7, .rnr_retry = 7,
				 .min_rnr_timer = 31, .max_dest_rd_atomic = 16,
				 .mtu = IBV_MTU_4096,
				 .access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ };
	struct pair pair = pair_by(IBV_QPT_RC, link, link);
	struct ibv_qp_attr attr = rig_attr(pair.qa);

	must_eq(attr.dest_qp_num, pair.qb->qp_num);
	must_eq(attr.ah_attr.dlid, pair.b->lid);
	must_eq(attr.ah_attr.port_num, 1);
	must_eq(attr.rq_psn, 0xffffff);
	must_eq(attr.sq_psn, 0xffffff);
	must_eq(attr.timeout, 31);
	must_eq(attr.retry_cnt, 7);
	must_eq(attr.rnr_retry, 7);
	must_eq(attr.min_rnr_timer, 31);
	must_eq(attr.max_dest_rd_atomic, 16);
	must_eq(attr.path_mtu, IBV_MTU_4096);
	must_eq(attr.qp_access_flags, (unsigned int)link.access);
}

/* Both drivers switch reads and atomics off at a QP that offers nothing for them. */
ROW("a query of a QP without responder resources shows no right but writing")
{
	struct rig_link link = rig_link_to(0, 0);
	struct pair pair;

	link.max_dest_rd_atomic = 0;
	pair = pair_by(IBV_QPT_RC, link, link);
	must_eq(rig_attr(pair.qa).qp_access_flags, IBV_ACCESS_REMOTE_WRITE);
}

/* A service level has four bits. */
ROW("a completion has the sender's service level")
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC };

	for (int i = 0; i < 2; i++) {
		struct pair pair = pair_apart(types[i]);
		const struct rig_link to_a = rig_link_to(pair.qa->qp_num, pair.a->lid),
				      to_b = rig_link_to(pair.qb->qp_num, pair.b->lid);
		struct ibv_qp_attr attr = {
			.qp_state = IBV_QPS_RTR, .path_mtu = to_b.mtu, .rq_psn = to_b.psn,
			.dest_qp_num = to_b.dest_qpn, .max_dest_rd_atomic = 1, .min_rnr_timer = 1,
			.ah_attr = { .dlid = to_b.dlid, .port_num = 1, .sl = 0x1b },
		};
		int mask = MASK_RTR;

		if (types[i] == IBV_QPT_UC)
			mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
		must_eq(rig_bring_up(pair.qb, &to_a), 0);
		must_eq(rig_init(pair.qa, &to_b), 0);
		must_eq(ibv_modify_qp(pair.qa, &attr, mask), 0);
		must_eq(rig_attr(pair.qa).ah_attr.sl, 0xb);
		must_eq(rig_rts(pair.qa, &to_b), 0);
		pair_must_receive(&pair, 1);
		pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
		must_eq(rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS).sl, 0xb);
	}
}

ROW("reset forgets the attributes")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_qp_attr attr = rig_attr(pair.qa);

	must_eq(attr.dest_qp_num, pair.qb->qp_num);
	must(attr.ah_attr.dlid);
	reset_both(&pair);
	attr = rig_attr(pair.qa);
	must_eq(attr.dest_qp_num, 0);
	must_eq(attr.rq_psn, 0);
	must_eq(attr.sq_psn, 0);
	must_eq(attr.qp_access_flags, 0);
	must_eq(attr.timeout, 0);
	must_eq(attr.ah_attr.dlid, 0);
}

/* A doorbell of any QP makes the adapter look at the rings of all QPs on its page. */
static void ring_doorbell(struct host *host)
{
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL);
	const struct rig_link link = rig_link_to(0, 0);
	struct ibv_send_wr wr = rig_wr(host, IBV_WR_SEND, 0, 10);

	must_eq(rig_bring_up(qp, &link), 0);
	must_eq(rig_to_state(qp, IBV_QPS_ERR), 0);
	rig_must_send(qp, &wr, IBV_WC_WR_FLUSH_ERR);
	must_eq(ibv_destroy_qp(qp), 0);
}

/* Requests that were not sent before RESET are not sent afterwards. */
ROW("reset begins at the first send")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 10);
	struct ibv_wc wc;

	for (int i = 0; i < 3; i++)
		must_eq(rig_post(pair.qa, &wr), 0); /* there is no buffer */
	reset_both(&pair);
	ring_doorbell(pair.a);
	rig_connect(pair.a, pair.qa, pair.b, pair.qb);
	must_eq(rig_post_recv(pair.b, pair.qb, 0, 100, 1), 0);
	must_eq(rig_post_recv(pair.b, pair.qb, 0, 100, 2), 0);
	rig_must_be_quiet(pair.b->cq, 5);
	pair_must_send(&pair, 20, IBV_WC_SUCCESS);
	wc = rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
	must_eq(wc.byte_len, 20);
	rig_must_be_quiet(pair.a->cq, 5);
	rig_must_be_quiet(pair.b->cq, 5);
}

static void must_establish_once(const struct pair *pair)
{
	pair_must_send(pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_hear(pair->b, IBV_EVENT_COMM_EST, pair->qb);
	pair_must_send(pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_hear_nothing(pair->b->ctx, 5);
}

/* Brings both up, the receiver to RTR only. */
static void connect_one_way(const struct pair *pair)
{
	const struct rig_link to_b = rig_link_to(pair->qb->qp_num, pair->b->lid);

	must_eq(rig_bring_up(pair->qa, &to_b), 0);
	pair_receiver_up(pair, 2);
}

ROW("reset forgets that the connection was established")
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_XRC_SEND };

	for (int i = 0; i < 3; i++) {
		struct pair pair = pair_apart(types[i]);

		connect_one_way(&pair);
		must_establish_once(&pair);
		reset_both(&pair);
		connect_one_way(&pair);
		must_establish_once(&pair);
	}
}
