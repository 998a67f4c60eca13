/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What SRQs and memory regions do exactly: order of receives, limits, numbers and keys. Also: which
 * SRQs and keys an XRC message may use, and one COMM_EST for each handle of a target.
 */
#include <softhca/tests/e2e/pair.h>

#include <fcntl.h>
#include <string.h>

/* Inline data has no key, so an inline read has no memory to write into. */
PAIR_CASE(inline_read_is_refused, IBV_QPT_RC)
{
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_READ, 0, 0, 8);

	wr.send_flags |= IBV_SEND_INLINE;
	return rig_send(pair.qa, &wr, IBV_WC_LOC_PROT_ERR) && rig_state(pair.qb) == IBV_QPS_RTS;
}

#define SRQ_SLOTS 16

/* Two connections from a to b that share an SRQ. Each reports its receives to its own CQ. */
struct shared {
	struct host *a, *b;
	struct ibv_srq *srq;
	struct ibv_cq *cq[2];
	struct ibv_qp *from[2];
};

static struct shared share(void)
{
	struct shared s = { .a = rig_host(0), .b = rig_host(1) };

	s.srq = MADE(rig_srq(s.b, SRQ_SLOTS - 1));
	for (int i = 0; i < 2; i++) {
		struct ibv_qp *to;

		s.from[i] = rig_qp(s.a, IBV_QPT_RC, NULL);
		s.cq[i] = s.b->cq = MADE(ibv_create_cq(s.b->ctx, SRQ_SLOTS, NULL, NULL, 0));
		to = rig_qp(s.b, IBV_QPT_RC, s.srq);
		rig_connect(s.a, s.from[i], s.b, to);
	}
	return s;
}

static bool send_by(const struct shared *s, int i, uint8_t byte)
{
	struct ibv_send_wr wr = rig_wr(s->a, IBV_WR_SEND, 0, 1);

	s->a->buffer[0] = byte;
	return rig_send(s->from[i], &wr, IBV_WC_SUCCESS);
}

static bool got(const struct shared *s, int i, uint8_t byte)
{
	CHECK(rig_completes(s->cq[i], byte, IBV_WC_SUCCESS) && s->b->buffer[byte] == byte);
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
	return true;
}

/* A request with the number of the old object must not reach the new one. */
CASE(numbers_are_not_reused_at_once)
{
	struct host *host = rig_host(0);
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, -1, O_CREAT));
	uint32_t last[4] = { 0 };

	for (int i = 0; i < 3; i++) {
		struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL),
			      *target = MADE(xrc_target(host, xrcd));
		struct ibv_srq *srq = MADE(xrc_srq(host, xrcd, RIG_DEPTH, 1));
		struct ibv_mr *mr = MADE(ibv_reg_mr(host->pd, host->buffer, 100, 0));
		const uint32_t numbers[] = { qp->qp_num, target->qp_num, xrc_srq_number(srq),
					     mr->lkey };

		for (int kind = 0; kind < 4; kind++)
			CHECK(numbers[kind] != last[kind]);
		memcpy(last, numbers, sizeof(last));
		CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_qp(target) && !ibv_destroy_srq(srq) &&
		      !ibv_dereg_mr(mr));
	}
	return true;
}

/* The first byte of a zero-based region has address 0, with the lkey and with the rkey. */
PAIR_CASE(a_zero_based_region_begins_at_address_0, IBV_QPT_RC)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ZERO_BASED;
	struct ibv_mr *from = MADE(ibv_reg_mr(pair.a->pd, pair.a->buffer + 4096, 4096, access));
	struct ibv_mr *to = MADE(ibv_reg_mr(pair.b->pd, pair.b->buffer + 8192, 4096, access));
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, 64);

	memset(pair.a->buffer + 4096 + 128, 0x42, 64);
	wr.sg_list->addr = 128;
	wr.sg_list->lkey = from->lkey;
	wr.wr.rdma.remote_addr = 4096 - 64;
	wr.wr.rdma.rkey = to->rkey;
	CHECK(rig_send(pair.qa, &wr, IBV_WC_SUCCESS));
	CHECK(pair.b->buffer[8192 + 4095] == 0x42 && pair.b->buffer[8192 + 4096 - 65] == 0 &&
	      pair.b->buffer[8192 + 4096] == 0);
	wr.wr.rdma.remote_addr++;
	CHECK(rig_send(pair.qa, &wr, IBV_WC_REM_ACCESS_ERR));
	return !ibv_dereg_mr(from) && !ibv_dereg_mr(to);
}

/* ---- XRC ---- */

CASE(an_srq_of_another_domain_is_refused)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_xrcd *private = MADE(xrc_domain(s.one, -1, O_CREAT));
	struct ibv_srq *srq = MADE(xrc_srq(s.one, private, RIG_DEPTH, 1));

	return xrc_send(&s, srq, s.one, IBV_WC_REM_INV_REQ_ERR);
}

CASE(write_uses_the_srqs_pd)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_send_wr wr = xrc_wr(&s, IBV_WR_RDMA_WRITE, s.srq2);

	memset(s.sender->buffer, 0x5a, 64);
	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)s.two->buffer;
	wr.wr.rdma.rkey = s.two->mr->rkey;
	CHECK(rig_send(s.send, &wr, IBV_WC_SUCCESS) && s.two->buffer[63] == 0x5a);
	wr.qp_type.xrc.remote_srqn = xrc_srq_number(s.srq1);
	return rig_send(s.send, &wr, IBV_WC_REM_ACCESS_ERR);
}

/* The target is in RTR. Only the first packet raises the event. */
CASE(every_handle_gets_one_comm_est)
{
	struct xrc_stage s = xrc_stage();

	CHECK(xrc_send(&s, s.srq1, s.one, IBV_WC_SUCCESS));
	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(rig_event_is(s.one, IBV_EVENT_COMM_EST, s.target));
	CHECK(rig_event_is(s.two, IBV_EVENT_COMM_EST, s.opened));
	return !rig_readable(s.one->ctx->async_fd, 10) && !rig_readable(s.two->ctx->async_fd, 10);
}

/*
 * A message for another SRQ takes no receive of this one. As long as the SRQ has as many receives
 * as the limit, there is no event. There is one event per arming.
 */
CASE(an_srq_below_its_limit_raises_one_event)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_send_wr wr = xrc_wr(&s, IBV_WR_SEND, s.srq1);
	struct ibv_srq_attr attr = { .srq_limit = 2 };

	for (uint64_t id = 1; id <= 4; id++)
		CHECK(!rig_post_srq(s.one, s.srq1, 0, 64, id));
	CHECK(!ibv_modify_srq(s.srq1, &attr, IBV_SRQ_LIMIT));
	CHECK(!ibv_query_srq(s.srq1, &attr) && attr.srq_limit == 2);
	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(rig_event_is(s.one, IBV_EVENT_COMM_EST, s.target));
	for (uint64_t id = 1; id <= 4; id++) {
		CHECK(!rig_readable(s.one->ctx->async_fd, 10));
		CHECK(rig_send(s.send, &wr, IBV_WC_SUCCESS) &&
		      rig_completes(s.one->cq, id, IBV_WC_SUCCESS));
		CHECK(id != 3 || rig_event_is(s.one, IBV_EVENT_SRQ_LIMIT_REACHED, s.srq1));
	}
	CHECK(!rig_readable(s.one->ctx->async_fd, 10));
	return !ibv_query_srq(s.srq1, &attr) && attr.srq_limit == 0;
}
