/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Which SRQs and keys an XRC message may use, one COMM_EST for each handle of a target, and after
 * which receive an SRQ raises its limit event.
 */
#include <softhca/tests/e2e/xrc.h>

#include <fcntl.h>
#include <string.h>

CASE(an_srq_of_another_domain_is_refused)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_xrcd *private = xrc_domain(s.one, -1, O_CREAT);
	struct ibv_srq *srq = xrc_srq(s.one, private, RIG_DEPTH, 1);

	CHECK(private && srq);
	return xrc_send(&s, srq, s.one, IBV_WC_REM_INV_REQ_ERR);
}

CASE(write_uses_the_srqs_pd)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_sge sge;
	struct ibv_send_wr wr = xrc_wr(&s, &sge, IBV_WR_RDMA_WRITE, s.srq2);

	memset(s.sender->buffer, 0x5a, 64);
	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)s.two->buffer;
	wr.wr.rdma.rkey = s.two->mr->rkey;
	CHECK(rig_send(s.send, &wr, IBV_WC_SUCCESS));
	CHECK(s.two->buffer[63] == 0x5a);
	wr.qp_type.xrc.remote_srqn = xrc_srq_number(s.srq1);
	CHECK(rig_send(s.send, &wr, IBV_WC_REM_ACCESS_ERR));
	return true;
}

/* ---- events ---- */

CASE(every_handle_gets_one_comm_est)
{
	struct xrc_stage s = xrc_stage();

	/* The target is in RTR. Only the first packet raises the event. */
	CHECK(xrc_send(&s, s.srq1, s.one, IBV_WC_SUCCESS));
	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(rig_event_is(s.one, IBV_EVENT_COMM_EST, s.target));
	CHECK(rig_event_is(s.two, IBV_EVENT_COMM_EST, s.opened));
	CHECK(!rig_readable(s.one->ctx->async_fd, 10) && !rig_readable(s.two->ctx->async_fd, 10));
	return true;
}

CASE(an_srq_below_its_limit_raises_one_event)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_srq_attr attr = { .srq_limit = 2 };

	for (uint64_t id = 1; id <= 3; id++)
		CHECK(!rig_post_srq(s.one, s.srq1, 0, 64, id));
	CHECK(!ibv_modify_srq(s.srq1, &attr, IBV_SRQ_LIMIT));
	CHECK(!ibv_query_srq(s.srq1, &attr) && attr.srq_limit == 2);
	/* A message for srq2 takes no receive of srq1. */
	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(rig_event_is(s.one, IBV_EVENT_COMM_EST, s.target));
	CHECK(!rig_readable(s.one->ctx->async_fd, 10));
	for (uint64_t id = 1; id <= 2; id++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = xrc_wr(&s, &sge, IBV_WR_SEND, s.srq1);
		struct ibv_wc wc;

		CHECK(rig_send(s.send, &wr, IBV_WC_SUCCESS));
		CHECK(rig_poll(s.one->cq, &wc) && wc.wr_id == id);
		/* As long as the SRQ has as many receives as the limit, there is no event. */
		CHECK(rig_readable(s.one->ctx->async_fd, id == 2 ? RIG_PATIENCE_MS : 10) ==
		      (id == 2));
	}
	CHECK(rig_event_is(s.one, IBV_EVENT_SRQ_LIMIT_REACHED, s.srq1));
	CHECK(!rig_readable(s.one->ctx->async_fd, 10)); /* once per arming */
	CHECK(!ibv_query_srq(s.srq1, &attr) && attr.srq_limit == 0);
	return true;
}

RIG_MAIN
