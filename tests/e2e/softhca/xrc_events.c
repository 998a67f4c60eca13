// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* XRC and events: shared targets, their lives and handles, limits, channels, and counting at destroy. */
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int temporary_file(void)
{
	char path[] = "/tmp/softhca-test-XXXXXX";
	int fd = mkstemp(path);

	NEED(fd >= 0);
	unlink(path);
	return fd;
}

static struct ibv_xrcd *open_domain(struct host *host, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = oflags
	};

	return ibv_open_xrcd(host->ctx, &attr);
}

static struct ibv_srq *xrc_srq(struct host *host, struct ibv_xrcd *xrcd)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = RIG_DEPTH, .max_sge = 1 }, .srq_type = IBV_SRQT_XRC, .xrcd = xrcd, .cq = host->cq,
		.pd = host->pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
	};

	return ibv_create_srq_ex(host->ctx, &attr);
}

static struct ibv_qp *target_qp(struct host *host, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcd, .comp_mask = IBV_QP_INIT_ATTR_XRCD
	};

	return ibv_create_qp_ex(host->ctx, &attr);
}

static struct ibv_qp *open_target(struct host *host, struct ibv_xrcd *xrcd, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn, .xrcd = xrcd, .qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(host->ctx, &attr);
}

/* A sender on device 0, and on device 1 a target with two contexts ("processes") in one domain. */
struct stage {
	struct host *sender, *one, *two;
	int fd;
	struct ibv_xrcd *xrcd1, *xrcd2;
	struct ibv_srq *srq1, *srq2;
	struct ibv_qp *send, *target, *opened;
};

static struct stage set_stage(void)
{
	struct stage s = { .sender = rig_host(0), .one = rig_host(1), .two = rig_host(1), .fd = temporary_file() };
	struct rig_link link;

	s.xrcd1 = open_domain(s.one, s.fd, O_CREAT);
	s.xrcd2 = open_domain(s.two, s.fd, 0);
	NEED(s.xrcd1 && s.xrcd2);
	s.srq1 = xrc_srq(s.one, s.xrcd1);
	s.srq2 = xrc_srq(s.two, s.xrcd2);
	NEED(s.srq1 && s.srq2);
	s.send = rig_qp(s.sender, IBV_QPT_XRC_SEND, NULL);
	s.target = target_qp(s.one, s.xrcd1);
	NEED(s.target);
	s.opened = open_target(s.two, s.xrcd2, s.target->qp_num);
	NEED(s.opened);
	link = rig_link_to(s.target->qp_num, s.one->lid);
	NEED(!rig_init(s.send, &link) && !rig_rtr(s.send, &link) && !rig_rts(s.send, &link));
	link = rig_link_to(s.send->qp_num, s.sender->lid);
	NEED(!rig_init(s.target, &link) && !rig_rtr(s.target, &link));
	return s;
}

static uint32_t srq_number(struct ibv_srq *srq)
{
	uint32_t number = 0;

	NEED(!ibv_get_srq_num(srq, &number));
	return number;
}

static bool send_to(struct stage *s, struct ibv_srq *srq, struct host *host, enum ibv_wc_status status)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(s->sender, &sge, IBV_WR_SEND, 0, 64);
	uint32_t number = srq_number(srq);
	struct ibv_wc wc;

	memset(s->sender->buffer, (int)number, 64);
	wr.qp_type.xrc.remote_srqn = number;
	CHECK(!rig_post_srq(host, srq, 4096, 64, number));
	CHECK(!rig_post(s->send, &wr) && rig_poll(s->sender->cq, &wc) && wc.status == status);
	if (status)
		return true;
	CHECK(rig_poll(host->cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.wr_id == number);
	CHECK(wc.qp_num == s->target->qp_num && wc.src_qp == number && host->buffer[4096] == (uint8_t)number);
	return true;
}

static bool one_target_many_srqs(void)
{
	struct stage s = set_stage();

	CHECK(s.target->qp_num & 0x800000);
	CHECK(send_to(&s, s.srq1, s.one, IBV_WC_SUCCESS));
	CHECK(send_to(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	return true;
}

static bool target_outlives_its_creator(void)
{
	struct stage s = set_stage();
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(s.sender, &sge, IBV_WR_SEND, 0, 64);
	struct ibv_wc wc;

	CHECK(!ibv_destroy_srq(s.srq1) && !ibv_destroy_qp(s.target) && !ibv_close_xrcd(s.xrcd1));
	rig_free_host(s.one);
	s.target = s.opened;
	CHECK(send_to(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	wr.qp_type.xrc.remote_srqn = srq_number(s.srq2);
	CHECK(!ibv_destroy_qp(s.opened));
	CHECK(!rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc) && wc.status == IBV_WC_RETRY_EXC_ERR);
	return true;
}

static bool any_handle_modifies(void)
{
	struct stage s = set_stage();
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	CHECK(!ibv_modify_qp(s.opened, &attr, IBV_QP_STATE));
	CHECK(!ibv_query_qp(s.target, &attr, IBV_QP_STATE, &init) && attr.qp_state == IBV_QPS_RESET);
	return true;
}

static bool query_tells_all_without_a_mask(void)
{
	struct stage s = set_stage();
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0xff, sizeof(attr));
	CHECK(!ibv_query_qp(s.opened, &attr, 0, &init));
	CHECK(attr.qp_state == IBV_QPS_RTR && attr.cur_qp_state == IBV_QPS_RTR && attr.path_mtu == IBV_MTU_1024);
	CHECK(attr.dest_qp_num == s.send->qp_num && attr.rq_psn == 0x1234 && attr.port_num == 1 && attr.pkey_index == 0);
	CHECK(attr.ah_attr.dlid == s.sender->lid && attr.ah_attr.port_num == 1 && attr.min_rnr_timer == 1);
	CHECK(attr.max_dest_rd_atomic == 4 && attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE);
	return true;
}

static bool srq_of_another_domain(void)
{
	struct stage s = set_stage();
	struct ibv_xrcd *private = open_domain(s.one, -1, O_CREAT);
	struct ibv_srq *srq = xrc_srq(s.one, private);

	CHECK(private && srq);
	return send_to(&s, srq, s.one, IBV_WC_REM_INV_REQ_ERR);
}

static bool domain_is_per_device(void)
{
	struct stage s = set_stage();

	CHECK(!open_domain(s.sender, s.fd, 0) && errno == EAGAIN);
	return true;
}

static bool write_uses_the_srqs_pd(void)
{
	struct stage s = set_stage();
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(s.sender, &sge, IBV_WR_RDMA_WRITE, 0, 64);
	struct ibv_wc wc;

	memset(s.sender->buffer, 0x5a, 64);
	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)s.two->buffer;
	wr.wr.rdma.rkey = s.two->mr->rkey;
	wr.qp_type.xrc.remote_srqn = srq_number(s.srq2);
	CHECK(!rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK(s.two->buffer[63] == 0x5a);
	wr.qp_type.xrc.remote_srqn = srq_number(s.srq1);
	CHECK(!rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc) && wc.status == IBV_WC_REM_ACCESS_ERR);
	return true;
}

/* ---- events ---- */

static bool event_is(struct host *host, enum ibv_event_type type, struct ibv_qp *qp)
{
	struct ibv_async_event event;

	CHECK(rig_async(host->ctx, &event));
	CHECK(event.event_type == type && event.element.qp == qp);
	ibv_ack_async_event(&event);
	return true;
}

static bool every_handle_hears(void)
{
	struct stage s = set_stage();

	/* The target is in RTR: the first packet establishes the connection, once. */
	CHECK(send_to(&s, s.srq1, s.one, IBV_WC_SUCCESS));
	CHECK(send_to(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(event_is(s.one, IBV_EVENT_COMM_EST, s.target));
	CHECK(event_is(s.two, IBV_EVENT_COMM_EST, s.opened));
	CHECK(!rig_readable(s.one->ctx->async_fd, 10) && !rig_readable(s.two->ctx->async_fd, 10));
	return true;
}

static bool two_handles_two_events(void)
{
	struct stage s = set_stage();
	struct ibv_qp *again = open_target(s.two, s.xrcd2, s.target->qp_num);

	CHECK(again);
	CHECK(send_to(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(event_is(s.two, IBV_EVENT_COMM_EST, s.opened) && event_is(s.two, IBV_EVENT_COMM_EST, again));
	return true;
}

static bool unread_events_do_not_block_destroy(void)
{
	struct stage s = set_stage();

	CHECK(send_to(&s, s.srq2, s.two, IBV_WC_SUCCESS));
	CHECK(rig_readable(s.two->ctx->async_fd, 1000));
	CHECK(!ibv_destroy_qp(s.opened));
	CHECK(!rig_readable(s.two->ctx->async_fd, 10)); /* and it has left no stale pointer behind */
	CHECK(rig_readable(s.one->ctx->async_fd, 10));
	return true;
}

/* Destroying a QP whose event was read and not acknowledged waits; in a child, so that it can be told from a hang. */
static bool read_event_blocks_destroy(void)
{
	pid_t child = fork();
	int status;

	NEED(child >= 0);
	if (!child) {
		struct stage s = set_stage();
		struct ibv_async_event event;

		NEED(send_to(&s, s.srq2, s.two, IBV_WC_SUCCESS) && rig_async(s.two->ctx, &event));
		alarm(1);
		ibv_destroy_qp(s.opened);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
	return true;
}

static bool srq_limit(void)
{
	struct stage s = set_stage();
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct ibv_async_event event;

	CHECK(!rig_post_srq(s.one, s.srq1, 0, 64, 1) && !rig_post_srq(s.one, s.srq1, 0, 64, 2));
	CHECK(!ibv_modify_srq(s.srq1, &attr, IBV_SRQ_LIMIT));
	CHECK(!ibv_query_srq(s.srq1, &attr) && attr.srq_limit == 2);
	CHECK(send_to(&s, s.srq2, s.two, IBV_WC_SUCCESS)); /* somebody else's */
	CHECK(event_is(s.one, IBV_EVENT_COMM_EST, s.target));
	CHECK(!rig_readable(s.one->ctx->async_fd, 10));
	for (uint64_t id = 1; id <= 2; id++) {
		struct ibv_sge sge;
		struct ibv_send_wr wr = rig_wr(s.sender, &sge, IBV_WR_SEND, 0, 64);
		struct ibv_wc wc;

		wr.qp_type.xrc.remote_srqn = srq_number(s.srq1);
		CHECK(!rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc) && !wc.status);
		CHECK(rig_poll(s.one->cq, &wc) && wc.wr_id == id);
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
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	CHECK(!rig_init(qp, &link) && !rig_rtr(qp, &link) && !ibv_modify_qp(qp, &attr, IBV_QP_STATE));
	CHECK(event_is(a, IBV_EVENT_QP_LAST_WQE_REACHED, qp));
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_srq(srq));
	rig_free_host(a);
	return true;
}

static bool sq_drained(void)
{
	struct stage s = set_stage();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };

	CHECK(!ibv_modify_qp(s.send, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY));
	CHECK(event_is(s.sender, IBV_EVENT_SQ_DRAINED, s.send));
	return true;
}

/* ---- completion events ---- */

static bool one_event_per_arming(void)
{
	struct stage s = set_stage();
	struct ibv_cq *cq;
	void *cq_context;

	CHECK(!ibv_req_notify_cq(s.one->cq, 0));
	CHECK(send_to(&s, s.srq1, s.one, IBV_WC_SUCCESS) && send_to(&s, s.srq1, s.one, IBV_WC_SUCCESS));
	CHECK(rig_readable(s.one->channel->fd, 1000) && !ibv_get_cq_event(s.one->channel, &cq, &cq_context));
	CHECK(cq == s.one->cq && !rig_readable(s.one->channel->fd, 10));
	CHECK(!ibv_req_notify_cq(cq, 0) && !rig_readable(s.one->channel->fd, 10));
	CHECK(send_to(&s, s.srq1, s.one, IBV_WC_SUCCESS) && rig_readable(s.one->channel->fd, 1000));
	CHECK(!ibv_get_cq_event(s.one->channel, &cq, &cq_context));
	ibv_ack_cq_events(cq, 2);
	return true;
}

static bool solicited_only(void)
{
	struct stage s = set_stage();
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(s.sender, &sge, IBV_WR_SEND, 0, 64);
	struct ibv_wc wc;

	CHECK(!ibv_req_notify_cq(s.one->cq, 1));
	CHECK(send_to(&s, s.srq1, s.one, IBV_WC_SUCCESS) && !rig_readable(s.one->channel->fd, 10));
	wr.qp_type.xrc.remote_srqn = srq_number(s.srq1);
	wr.send_flags |= IBV_SEND_SOLICITED;
	CHECK(!rig_post_srq(s.one, s.srq1, 0, 64, 1) && !rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc));
	CHECK(rig_readable(s.one->channel->fd, 1000));
	return true;
}

static bool armed_too_late_still_fires(void)
{
	struct stage s = set_stage();
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(s.sender, &sge, IBV_WR_SEND, 0, 64);
	struct ibv_wc wc;

	wr.qp_type.xrc.remote_srqn = srq_number(s.srq1);
	CHECK(!rig_post_srq(s.one, s.srq1, 0, 64, 1) && !rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc));
	/* The completion is there, the program has not polled it: arming now must not sleep for ever. */
	CHECK(!ibv_req_notify_cq(s.one->cq, 0) && rig_readable(s.one->channel->fd, 1000));
	return true;
}

static bool state_soon(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	for (int i = 0; i < 1000; i++) {
		if (!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) && attr.qp_state == state)
			return true;
		usleep(1000);
	}
	return false;
}

static bool cq_overrun(void)
{
	struct host *a = rig_host(0);
	struct ibv_cq *small = ibv_create_cq(a->ctx, 1, NULL, NULL, 0);
	struct ibv_qp_init_attr init = {
		.send_cq = small, .recv_cq = a->cq, .qp_type = IBV_QPT_UC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(a->pd, &init);
	struct rig_link link = rig_link_to(1, a->lid);
	struct ibv_async_event event;
	struct ibv_sge sge;

	CHECK(small && qp && !rig_init(qp, &link) && !rig_rtr(qp, &link) && !rig_rts(qp, &link));
	for (int i = 0; i < small->cqe + 2; i++) {
		struct ibv_send_wr wr = rig_wr(a, &sge, IBV_WR_SEND, 0, 1);

		CHECK(!rig_post(qp, &wr));
	}
	CHECK(rig_async(a->ctx, &event) && event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == small);
	ibv_ack_async_event(&event);
	/* A QP that cannot report any more has failed. */
	CHECK(state_soon(qp, IBV_QPS_ERR));
	CHECK(!ibv_destroy_qp(qp) && !ibv_destroy_cq(small));
	rig_free_host(a);
	return true;
}

/* The CQ of an XRC SRQ: the target lives on for the other SRQs until somebody sends to this one. */
static bool cq_overrun_of_an_srq(void)
{
	struct stage s = set_stage();
	struct ibv_cq *cq = s.one->cq, *small = ibv_create_cq(s.one->ctx, 1, NULL, NULL, 0);
	struct ibv_async_event event;
	struct ibv_srq *srq;
	struct ibv_sge sge;
	struct ibv_wc wc;

	s.one->cq = small;
	srq = xrc_srq(s.one, s.xrcd1);
	s.one->cq = cq;
	CHECK(srq && send_to(&s, s.srq1, s.one, IBV_WC_SUCCESS) && event_is(s.one, IBV_EVENT_COMM_EST, s.target));
	for (int i = 0; i < small->cqe + 3; i++) {
		struct ibv_send_wr wr = rig_wr(s.sender, &sge, IBV_WR_SEND, 0, 8);

		wr.qp_type.xrc.remote_srqn = srq_number(srq);
		CHECK(!rig_post_srq(s.one, srq, 0, 8, 1) && !rig_post(s.send, &wr) && rig_poll(s.sender->cq, &wc));
		CHECK(wc.status == (i < small->cqe + 2 ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR));
		if (i == small->cqe + 1) {
			CHECK(rig_async(s.one->ctx, &event) && event.event_type == IBV_EVENT_CQ_ERR);
			CHECK(event.element.cq == small);
			ibv_ack_async_event(&event);
			CHECK(state_soon(s.target, IBV_QPS_RTR));
		}
	}
	return state_soon(s.target, IBV_QPS_ERR);
}

static bool cq_resize_keeps_completions(void)
{
	struct stage s = set_stage();
	struct ibv_sge sge;
	struct ibv_wc wc;

	for (uint64_t round = 0; round < 40; round++) {
		for (uint64_t i = 0; i < 3; i++) {
			struct ibv_send_wr wr = rig_wr(s.sender, &sge, IBV_WR_SEND, 0, 8);

			wr.qp_type.xrc.remote_srqn = srq_number(s.srq1);
			CHECK(!rig_post_srq(s.one, s.srq1, 0, 8, 10 * round + i) && !rig_post(s.send, &wr));
			CHECK(rig_poll(s.sender->cq, &wc) && !wc.status);
		}
		CHECK(!ibv_resize_cq(s.one->cq, round & 1 ? 60 : 6));
		for (uint64_t i = 0; i < 3; i++)
			CHECK(rig_poll(s.one->cq, &wc) && !wc.status && wc.wr_id == 10 * round + i);
	}
	return true;
}

static bool reregistered_memory(void)
{
	struct host *a = rig_host(0);
	uint32_t old = a->mr->lkey;

	CHECK(!ibv_rereg_mr(a->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE));
	CHECK(a->mr->lkey != old && a->mr->lkey == a->mr->rkey);
	rig_free_host(a);
	return true;
}

static const struct rig_case cases[] = {
	{ "one_target_many_srqs", one_target_many_srqs },
	{ "target_outlives_its_creator", target_outlives_its_creator },
	{ "any_handle_modifies", any_handle_modifies },
	{ "query_tells_all_without_a_mask", query_tells_all_without_a_mask },
	{ "srq_of_another_domain", srq_of_another_domain },
	{ "domain_is_per_device", domain_is_per_device },
	{ "write_uses_the_srqs_pd", write_uses_the_srqs_pd },
	{ "every_handle_hears", every_handle_hears },
	{ "two_handles_two_events", two_handles_two_events },
	{ "unread_events_do_not_block_destroy", unread_events_do_not_block_destroy },
	{ "read_event_blocks_destroy", read_event_blocks_destroy },
	{ "srq_limit", srq_limit },
	{ "last_wqe_reached", last_wqe_reached },
	{ "sq_drained", sq_drained },
	{ "one_event_per_arming", one_event_per_arming },
	{ "solicited_only", solicited_only },
	{ "armed_too_late_still_fires", armed_too_late_still_fires },
	{ "cq_overrun", cq_overrun },
	{ "cq_overrun_of_an_srq", cq_overrun_of_an_srq },
	{ "cq_resize_keeps_completions", cq_resize_keeps_completions },
	{ "reregistered_memory", reregistered_memory },
};

int main(int argc, char **argv)
{
	return rig_run(argc, argv, cases, sizeof(cases) / sizeof(cases[0]));
}
