/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * XRC and events: shared targets, when they and their handles end, limits, and the counts at
 * destroy.
 */
#include <tests/e2e/opened.h>
#include <softhca/tests/e2e/xrc_stage.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool one_target_many_srqs(void)
{
	struct xrc_stage s = xrc_stage();

	CHECK((s.target->qp_num & 0x800000) == emulated_target_tag());
	CHECK(xrc_send(&s, s.srq1, s.one, IBV_WC_SUCCESS));
	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	return true;
}

static bool target_outlives_its_creator(void)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_sge sge;
	struct ibv_send_wr wr = xrc_wr(&s, &sge, IBV_WR_SEND, s.srq2);
	struct ibv_wc wc;

	CHECK(!ibv_destroy_srq(s.srq1) && !ibv_destroy_qp(s.target) && !ibv_close_xrcd(s.xrcd1));
	rig_free_host(s.one);
	s.target = s.opened;
	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(!opened_destroy(s.opened));
	CHECK(!rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc) &&
	      wc.status == IBV_WC_RETRY_EXC_ERR);
	return true;
}

static bool any_handle_modifies(void)
{
	struct xrc_stage s = xrc_stage();
	/* libmlx5 crashes if such a handle is moved to RESET (docs/upstream/). */
	enum ibv_qp_state state = emulated_is_mlx5() ? IBV_QPS_ERR : IBV_QPS_RESET;

	CHECK(!rig_to_state(s.opened, state) && rig_state(s.target) == state);
	return true;
}

static bool query_tells_all_without_a_mask(void)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0xff, sizeof(attr));
	CHECK(!ibv_query_qp(s.opened, &attr, 0, &init));
	CHECK(attr.qp_state == IBV_QPS_RTR && attr.cur_qp_state == IBV_QPS_RTR &&
	      attr.path_mtu == IBV_MTU_1024);
	CHECK(attr.dest_qp_num == s.send->qp_num && attr.rq_psn == 0x1234 && attr.port_num == 1 &&
	      attr.pkey_index == 0);
	CHECK(attr.ah_attr.dlid == s.sender->lid && attr.ah_attr.port_num == 1 &&
	      attr.min_rnr_timer == 1);
	CHECK(attr.max_dest_rd_atomic == 4 && attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE);
	return true;
}

static bool srq_of_another_domain(void)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_xrcd *private = xrc_domain(s.one, -1, O_CREAT);
	struct ibv_srq *srq = xrc_srq(s.one, private, RIG_DEPTH, 1);

	CHECK(private && srq);
	return xrc_send(&s, srq, s.one, IBV_WC_REM_INV_REQ_ERR);
}

static bool domain_is_per_device(void)
{
	struct xrc_stage s = xrc_stage();

	CHECK(!xrc_domain(s.sender, s.fd, 0) && errno == EAGAIN);
	return true;
}

static bool write_uses_the_srqs_pd(void)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_sge sge;
	struct ibv_send_wr wr = xrc_wr(&s, &sge, IBV_WR_RDMA_WRITE, s.srq2);
	struct ibv_wc wc;

	memset(s.sender->buffer, 0x5a, 64);
	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)s.two->buffer;
	wr.wr.rdma.rkey = s.two->mr->rkey;
	CHECK(!rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(s.two->buffer[63] == 0x5a);
	wr.qp_type.xrc.remote_srqn = xrc_srq_number(s.srq1);
	CHECK(!rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc) &&
	      wc.status == IBV_WC_REM_ACCESS_ERR);
	return true;
}

/* ---- events ---- */

static bool every_handle_hears(void)
{
	struct xrc_stage s = xrc_stage();

	/* The target is in RTR: the first packet establishes the connection, once. */
	CHECK(xrc_send(&s, s.srq1, s.one, IBV_WC_SUCCESS));
	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(xrc_event_is(s.one, IBV_EVENT_COMM_EST, s.target));
	CHECK(xrc_event_is(s.two, IBV_EVENT_COMM_EST, s.opened));
	CHECK(!rig_readable(s.one->ctx->async_fd, 10) && !rig_readable(s.two->ctx->async_fd, 10));
	return true;
}

static bool two_handles_two_events(void)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_qp *again = xrc_open(s.two, s.xrcd2, s.target->qp_num);

	CHECK(again);
	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	/* The handle that was opened last gets the event first. */
	CHECK(xrc_event_is(s.two, IBV_EVENT_COMM_EST, again) &&
	      xrc_event_is(s.two, IBV_EVENT_COMM_EST, s.opened));
	return true;
}

static bool unread_events_do_not_block_destroy(void)
{
	struct xrc_stage s = xrc_stage();

	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(rig_readable(s.two->ctx->async_fd, RIG_PATIENCE_MS));
	CHECK(!opened_destroy(s.opened));
	/* and it has left no stale pointer behind */
	CHECK(!rig_readable(s.two->ctx->async_fd, 10));
	CHECK(rig_readable(s.one->ctx->async_fd, RIG_PATIENCE_MS));
	return true;
}

/*
 * ibv_destroy_qp waits if an event of the QP was read and not acknowledged. A child calls it, so
 * that the test can tell waiting from a hang.
 */
static bool read_event_blocks_destroy(void)
{
	pid_t child = fork();
	int status;

	NEED(child >= 0);
	if (!child) {
		struct xrc_stage s = xrc_stage();
		struct ibv_async_event event;

		NEED(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS) && rig_async(s.two->ctx, &event));
		alarm(1);
		opened_destroy(s.opened);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) &&
	      WTERMSIG(status) == SIGALRM);
	return true;
}

static bool srq_limit(void)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct ibv_async_event event;

	for (uint64_t id = 1; id <= 3; id++)
		CHECK(!rig_post_srq(s.one, s.srq1, 0, 64, id));
	CHECK(!ibv_modify_srq(s.srq1, &attr, IBV_SRQ_LIMIT));
	CHECK(!ibv_query_srq(s.srq1, &attr) && attr.srq_limit == 2);
	/* A message for srq2 takes no receive of srq1. */
	CHECK(xrc_send(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(xrc_event_is(s.one, IBV_EVENT_COMM_EST, s.target));
	CHECK(!rig_readable(s.one->ctx->async_fd, 10));
	for (uint64_t id = 1; id <= 2; id++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = xrc_wr(&s, &sge, IBV_WR_SEND, s.srq1);
		struct ibv_wc wc;

		CHECK(!rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc) && !wc.status);
		CHECK(rig_poll(s.one->cq, &wc) && wc.wr_id == id);
		/* As long as the SRQ has as many receives as the limit, there is no event. */
		CHECK(rig_readable(s.one->ctx->async_fd, id == 2 ? RIG_PATIENCE_MS : 10) ==
		      (id == 2));
	}
	CHECK(rig_async(s.one->ctx, &event) && event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
	CHECK(event.element.srq == s.srq1);
	ibv_ack_async_event(&event);
	CHECK(!rig_readable(s.one->ctx->async_fd, 10)); /* once per arming */
	CHECK(!ibv_query_srq(s.srq1, &attr) && attr.srq_limit == 0);
	return true;
}

static bool last_wqe_reached(void)
{
	struct host *a = rig_host(0);
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(a->pd, &init);
	struct ibv_qp *qp = rig_qp(a, IBV_QPT_RC, srq);
	struct rig_link link = rig_link_to(qp->qp_num, a->lid);

	CHECK(!rig_init(qp, &link) && !rig_rtr(qp, &link) && !rig_to_state(qp, IBV_QPS_ERR));
	CHECK(xrc_event_is(a, IBV_EVENT_QP_LAST_WQE_REACHED, qp));
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq));
	rig_free_host(a);
	return true;
}

static bool sq_drained(void)
{
	struct xrc_stage s = xrc_stage();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };

	if (!emulated_drains())
		return ibv_modify_qp(s.send, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY) ==
		       EINVAL;
	CHECK(!ibv_modify_qp(s.send, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	CHECK(xrc_event_is(s.sender, IBV_EVENT_SQ_DRAINED, s.send));
	return true;
}

static const struct rig_case cases[] = {
	CASE(one_target_many_srqs), CASE(target_outlives_its_creator), CASE(any_handle_modifies),
	CASE(query_tells_all_without_a_mask), CASE(srq_of_another_domain),
	CASE(domain_is_per_device), CASE(write_uses_the_srqs_pd), CASE(every_handle_hears),
	CASE(two_handles_two_events), CASE(unread_events_do_not_block_destroy),
	CASE(read_event_blocks_destroy), CASE(srq_limit), CASE(last_wqe_reached), CASE(sq_drained),
};

RIG_MAIN(cases)
