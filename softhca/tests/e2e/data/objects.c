/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What SRQs, CQs and memory regions do exactly: order of receives, numbers and keys. */
#include <softhca/tests/e2e/pair.h>

#include <fcntl.h>
#include <string.h>

/* ---- queues ---- */

/* Inline data has no key, so an inline read has no memory to write into. */
CASE(inline_read_is_refused)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = pair_remote_wr(&pair, &sge, IBV_WR_RDMA_READ, 0, 0, 8);

	wr.send_flags |= IBV_SEND_INLINE;
	CHECK(rig_send(pair.qa, &wr, IBV_WC_LOC_PROT_ERR));
	CHECK(rig_state(pair.qb) == IBV_QPS_RTS);
	return pair_tear_down(&pair);
}

/* A CQ armed for solicited completions reports errors, too. */
CASE(error_is_solicited)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 10);
	struct ibv_cq *cq;
	void *context;

	sge.lkey++;
	CHECK(!ibv_req_notify_cq(pair.a->cq, 1) && !rig_post(pair.qa, &wr));
	CHECK(rig_readable(pair.a->channel->fd, RIG_PATIENCE_MS) &&
	      !ibv_get_cq_event(pair.a->channel, &cq, &context));
	ibv_ack_cq_events(cq, 1);
	return pair_tear_down(&pair);
}

#define SRQ_SLOTS 16

/* Two connections from a to b that share an SRQ. Each reports its receives to its own CQ. */
struct shared {
	struct host *a, *b;
	struct ibv_srq *srq;
	struct ibv_cq *cq[2];
	struct ibv_qp *from[2], *to[2];
};

static struct shared share(void)
{
	struct shared s = { .a = rig_host(0), .b = rig_host(1) };
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = SRQ_SLOTS - 1, .max_sge = 1 } };

	s.srq = MADE(ibv_create_srq(s.b->pd, &attr));
	s.cq[0] = MADE(ibv_create_cq(s.b->ctx, SRQ_SLOTS, NULL, NULL, 0));
	s.cq[1] = s.b->cq;
	for (int i = 0; i < 2; i++) {
		s.from[i] = rig_qp(s.a, IBV_QPT_RC, NULL);
		s.b->cq = s.cq[i];
		s.to[i] = rig_qp(s.b, IBV_QPT_RC, s.srq);
		rig_connect(s.a, s.from[i], s.b, s.to[i], rig_link_to(0, 0));
	}
	return s;
}

static bool end_sharing(struct shared *s)
{
	for (int i = 0; i < 2; i++)
		CHECK(!ibv_destroy_qp(s->from[i]) && !ibv_destroy_qp(s->to[i]));
	CHECK(!ibv_destroy_srq(s->srq) && !ibv_destroy_cq(s->cq[0]));
	rig_free_host(s->a);
	rig_free_host(s->b);
	return true;
}

static bool send_by(struct shared *s, int i, uint8_t byte)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(s->a, &sge, IBV_WR_SEND, 0, 1);

	s->a->buffer[0] = byte;
	return rig_send(s->from[i], &wr, IBV_WC_SUCCESS);
}

static bool got(struct shared *s, int i, uint8_t byte)
{
	struct ibv_wc wc;

	CHECK(rig_poll_success(s->cq[i], &wc) && wc.wr_id == byte && s->b->buffer[byte] == byte);
	return true;
}

/*
 * The provider links the free WQEs of an SRQ to a list, in the order in which their completions
 * are polled. The HCA takes receives in the order of the list, not of the ring.
 */
CASE(srq_receives_are_taken_in_the_order_of_the_list)
{
	struct shared s = share();

	for (uint8_t id = 1; id <= 2; id++)
		CHECK(!rig_post_srq(s.b, s.srq, id, 1, id));
	CHECK(send_by(&s, 0, 1) && send_by(&s, 1, 2));
	CHECK(got(&s, 1, 2) && got(&s, 0, 1));
	for (uint8_t id = 3; id <= 2 * SRQ_SLOTS; id++)
		CHECK(!rig_post_srq(s.b, s.srq, id, 1, id) && send_by(&s, id & 1, id) &&
		      got(&s, id & 1, id));
	return end_sharing(&s);
}

/* ---- numbers and keys ---- */

/* A request with the number of the old object must not reach the new one. */
CASE(numbers_are_not_reused_at_once)
{
	struct host *host = rig_host(0);
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, -1, O_CREAT));
	uint32_t qpn = 0, target = 0, srqn = 0, key = 0;

	for (int i = 0; i < 3; i++) {
		struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL),
			      *tgt = MADE(xrc_target(host, xrcd));
		struct ibv_srq *srq = MADE(xrc_srq(host, xrcd, RIG_DEPTH, 1));
		struct ibv_mr *mr = ibv_reg_mr(host->pd, host->buffer, 100, 0);

		CHECK(mr && qp->qp_num != qpn && tgt->qp_num != target &&
		      xrc_srq_number(srq) != srqn && mr->lkey != key);
		qpn = qp->qp_num;
		target = tgt->qp_num;
		srqn = xrc_srq_number(srq);
		key = mr->lkey;
		CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_qp(tgt) && !ibv_destroy_srq(srq) &&
		      !ibv_dereg_mr(mr));
	}
	CHECK(!ibv_close_xrcd(xrcd));
	rig_free_host(host);
	return true;
}

/* The first byte of a zero-based region has address 0, with the lkey and with the rkey. */
CASE(a_zero_based_region_begins_at_address_0)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_mr *from = ibv_reg_mr(pair.a->pd, pair.a->buffer + 4096, 4096,
					 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ZERO_BASED);
	struct ibv_mr *to = ibv_reg_mr(pair.b->pd, pair.b->buffer + 8192, 4096,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					       IBV_ACCESS_ZERO_BASED);
	struct ibv_sge sge;
	struct ibv_send_wr wr = pair_remote_wr(&pair, &sge, IBV_WR_RDMA_WRITE, 0, 0, 64);

	CHECK(from && to);
	memset(pair.a->buffer + 4096 + 128, 0x42, 64);
	sge.addr = 128;
	sge.lkey = from->lkey;
	wr.wr.rdma.remote_addr = 4096 - 64;
	wr.wr.rdma.rkey = to->rkey;
	CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
	CHECK(pair.b->buffer[8192 + 4095] == 0x42 && pair.b->buffer[8192 + 4096 - 65] == 0 &&
	      pair.b->buffer[8192 + 4096] == 0);
	wr.wr.rdma.remote_addr++;
	CHECK(rig_send(pair.qa, &wr, IBV_WC_REM_ACCESS_ERR));
	CHECK(!ibv_dereg_mr(from) && !ibv_dereg_mr(to));
	return pair_tear_down(&pair);
}

RIG_MAIN
