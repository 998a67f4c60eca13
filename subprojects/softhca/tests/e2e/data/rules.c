/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Rules of an adapter, a row each: timeouts, P_Keys, ports, draining, QPs that end midway, CQs that
 * are resized, time stamps, regions that move.
 */
#include <harness/emulated.h>
#include <e2e/pair.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES PAIR_BYTES

ROW("a write with immediate is solicited if its sender says so")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, BYTES);

	pair_must_receive(&pair, 2);
	must_eq(ibv_req_notify_cq(pair.b->cq, 1), 0);
	rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
	must(!rig_readable(pair.b->channel->fd, 10));
	wr.send_flags |= IBV_SEND_SOLICITED;
	rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
	rig_must_be_notified(pair.b);
}

ROW("a timeout of 0 never expires")
{
	struct pair pair = pair_apart(IBV_QPT_RC);
	struct rig_link to_b = rig_link_to(pair.qb->qp_num, pair.b->lid);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, BYTES);

	to_b.timeout = to_b.retry_cnt = 0;
	must_eq(rig_bring_up(pair.qa, &to_b), 0);
	must_eq(rig_post(pair.qa, &wr), 0);
	rig_must_be_quiet(pair.a->cq, 300);
	pair_receiver_up(&pair, 1);
	rig_must_complete(pair.a->cq, wr.wr_id, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
}

/* The peer never comes. Another QP that goes to RTR makes all unanswered senders try at once. */
ROW("attempts in vain do not put off a timeout")
{
	struct pair pair = pair_apart(IBV_QPT_RC);
	struct rig_link to_b = rig_link_to(pair.qb->qp_num, pair.b->lid);
	struct ibv_qp *other = rig_qp(pair.b, IBV_QPT_RC, NULL);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, BYTES);
	double end = seconds() + 2;
	struct ibv_wc wc;
	int got = 0;

	to_b.timeout = 14; /* 67 ms */
	to_b.retry_cnt = 1;
	must_eq(rig_bring_up(pair.qa, &to_b), 0);
	must_eq(rig_post(pair.qa, &wr), 0);
	for (; !got && seconds() < end; got = ibv_poll_cq(pair.a->cq, 1, &wc)) {
		must_eq(rig_init(other, &to_b), 0);
		must_eq(rig_rtr(other, &to_b), 0);
		must_eq(rig_to_state(other, IBV_QPS_RESET), 0);
	}
	must_eq(got, 1);
	must_eq(wc.status, IBV_WC_RETRY_EXC_ERR);
}

ROW("a QP that waits for an answer is destroyed")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, BYTES);

	must_eq(ibv_destroy_qp(pair.qb), 0);
	must_eq(rig_post(pair.qa, &wr), 0);
	must_eq(ibv_destroy_qp(pair.qa), 0);
	usleep(50000); /* its timeout passes */
	rig_must_be_quiet(pair.a->cq, 0);
	must_eq(ibv_destroy_cq(pair.a->cq), 0);
}

ROW("a query shows the receive queue that was made")
{
	struct host *host = rig_host(0);
	struct ibv_qp_init_attr made = {
		.send_cq = host->cq, .recv_cq = host->cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = 9, .max_recv_wr = 20, .max_send_sge = 2,
			 .max_recv_sge = 3 },
	}, shown;
	struct ibv_qp *qp = MADE(ibv_create_qp(host->pd, &made));
	struct ibv_qp_attr attr;

	must_eq(ibv_query_qp(qp, &attr, IBV_QP_CAP, &shown), 0);
	must(attr.cap.max_recv_wr >= 20);
	must_eq(attr.cap.max_recv_wr, made.cap.max_recv_wr);
	must_eq(attr.cap.max_recv_sge, made.cap.max_recv_sge);
	must_eq(shown.sq_sig_all, 1);
}

/* The sequence numbers of both ends count them. */
ROW("a message has as many packets as its MTU makes of it")
{
	for (enum ibv_mtu mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++) {
		const uint32_t size = 128u << mtu;
		const uint32_t lengths[] = { 0, 1, size, size + 1, 8192 };
		const uint32_t packets[] = { 1, 1, 1, 2, 8192 / size };
		struct rig_link link = rig_link_to(0, 0);
		uint32_t psn = RIG_PSN;
		struct ibv_send_wr wr;
		struct pair pair;

		link.mtu = mtu;
		pair = pair_by(IBV_QPT_RC, link, link);
		wr = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, 0);
		for (int i = 0; i < 5; i++) {
			wr.sg_list->length = lengths[i];
			rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
			psn += packets[i];
			must_eq(rig_attr(pair.qa).sq_psn, psn);
			must_eq(rig_attr(pair.qb).rq_psn, psn);
		}
	}
}

/* ---- receivers out of reach ---- */

static const enum ibv_qp_type types[] = {
	IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND
};
#define TYPES (sizeof(types) / sizeof(types[0]))

static bool is_reliable(const struct pair *pair)
{
	return pair->qa->qp_type == IBV_QPT_RC || pair->qa->qp_type == IBV_QPT_XRC_SEND;
}

/* Without an answer only a reliable sender knows that its message was lost. */
static void must_not_reach(const struct pair *pair)
{
	pair_must_receive(pair, 1);
	pair_must_send(pair, PAIR_BYTES,
		       is_reliable(pair) ? IBV_WC_RETRY_EXC_ERR : IBV_WC_SUCCESS);
	rig_must_be_quiet(pair->b->cq, 5);
}

/* All entries of the P_Key table but the first are empty, and an empty entry matches none. */
ROW("no message passes if either end has an empty P_Key")
{
	for (size_t i = 0; i < 2 * TYPES; i++) {
		struct rig_link link[2] = { rig_link_to(0, 0), rig_link_to(0, 0) };
		struct pair pair;

		link[i & 1].pkey_index = 1;
		pair = pair_by(types[i / 2], link[0], link[1]);
		must_not_reach(&pair);
	}
}

ROW("no message passes if the port of either end is down")
{
	for (size_t i = 0; i < 2 * TYPES; i++) {
		struct pair pair = pair_up(types[i / 2]);

		pair_control("port", i & 1, "1 down");
		must_not_reach(&pair);
		pair_control("port", i & 1, "1 up");
	}
}

/* A port that is in the wanted state already does not change. */
ROW("every context of a device hears of each change of its port once")
{
	static const enum ibv_event_type changes[] = { IBV_EVENT_PORT_ERR, IBV_EVENT_PORT_ACTIVE };
	struct host *hosts[] = { rig_host(0), rig_host(0) }, *other = rig_host(1);

	for (int i = 0; i < 4; i++)
		pair_control("port", 0, i < 2 ? "1 down" : "1 up");
	for (int i = 0; i < 4; i++) {
		struct ibv_async_event event = rig_must_get_event(hosts[i & 1]->ctx);

		must_eq(event.event_type, changes[i / 2]);
		must_eq(event.element.port_num, 1);
		ibv_ack_async_event(&event);
	}
	for (int i = 0; i < 2; i++)
		rig_must_hear_nothing(hosts[i]->ctx, 0);
	rig_must_hear_nothing(other->ctx, 0);
}

/* ---- QPs that end or stop while a message is on its way ---- */

/* A target whose SRQ has two receives. The first takes a message that has arrived in part. */
static struct pair pair_midway(void)
{
	struct pair pair = pair_up(IBV_QPT_XRC_SEND);
	struct ibv_sge from = rig_region(pair.a, rig_map(RIG_LONG), RIG_LONG),
		       to = rig_region(pair.b, rig_map(RIG_LONG), RIG_LONG);
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_SEND, 0, 0, RIG_LONG);

	memset((void *)(uintptr_t)from.addr, 1, RIG_LONG);
	*wr.sg_list = from;
	must_eq(rig_post_sge(NULL, pair.srq, to, 1), 0);
	must_eq(rig_post_sge(NULL, pair.srq, to, 2), 0);
	pair_control("fault", 0, "delay 100%% 300000"); /* each piece */
	must_eq(rig_post(pair.qa, &wr), 0);
	must(rig_changes((const uint8_t *)(uintptr_t)to.addr));
	return pair;
}

static void must_take_a_new_receive(enum ibv_qp_state end)
{
	struct pair pair = pair_midway();

	must_eq(rig_to_state(pair.qb, end), 0);
	pair_control("fault", 0, "off");
	rig_must_complete(pair.a->cq, 77, IBV_WC_RETRY_EXC_ERR);
	if (end == IBV_QPS_ERR)
		rig_must_complete(pair.b->cq, 1, IBV_WC_WR_FLUSH_ERR);
	must_eq(rig_to_state(pair.qa, IBV_QPS_RESET), 0);
	must_eq(rig_to_state(pair.qb, IBV_QPS_RESET), 0);
	rig_connect(pair.a, pair.qa, pair.b, pair.qb);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 2, IBV_WC_SUCCESS);
}

ROW("a target that fails midway takes a new receive for its next message")
{
	must_take_a_new_receive(IBV_QPS_ERR);
}

ROW("a target that is reset midway takes a new receive for its next message")
{
	must_take_a_new_receive(IBV_QPS_RESET);
}

ROW("an SRQ that is destroyed midway fails the target")
{
	struct pair pair = pair_midway();

	must_eq(ibv_destroy_srq(pair.srq), 0);
	rig_must_complete(pair.a->cq, 77, IBV_WC_REM_INV_REQ_ERR);
	pair_control("fault", 0, "off");
	must_eq(rig_state(pair.qb), IBV_QPS_ERR);
	rig_must_be_quiet(pair.b->cq, 5);
}

/*
 * Its first end has messages, is in SQD, and is to tell its end. The first message has begun: it
 * waits for a receive.
 */
static struct pair draining_pair(int messages)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, BYTES);

	if (!emulated_drains())
		row_skip("this adapter has no SQD");
	while (messages--)
		must_eq(rig_post(pair.qa, &wr), 0);
	rig_must_be_quiet(pair.a->cq, 20);
	must_eq(ibv_modify_qp(pair.qa, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
	return pair;
}

ROW("a QP in SQD ends what it has begun, and begins nothing")
{
	struct pair pair = draining_pair(2);

	must_eq(rig_attr(pair.qa).sq_draining, 1);
	pair_must_receive(&pair, 2);
	rig_must_complete(pair.a->cq, 77, IBV_WC_SUCCESS);
	rig_must_hear(pair.a, IBV_EVENT_SQ_DRAINED, pair.qa);
	must_eq(rig_attr(pair.qa).sq_draining, 0);
	rig_must_be_quiet(pair.a->cq, 20);
	must_eq(rig_to_state(pair.qa, IBV_QPS_RTS), 0);
	rig_must_complete(pair.a->cq, 77, IBV_WC_SUCCESS);
}

#define LONGER (64u << 20) /* than what the emulator moves before it executes a command */

/* It may end at any moment, but as long as it has not ended the QP is draining. */
ROW("a QP in SQD ends a long message that it has begun")
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, 0);
	struct ibv_sge to = rig_region(pair.b, rig_map(LONGER), LONGER);
	struct ibv_wc wc;
	bool draining;

	if (!emulated_drains())
		row_skip("this adapter has no SQD");
	*wr.sg_list = rig_region(pair.a, rig_map(LONGER), LONGER);
	wr.wr.rdma.remote_addr = to.addr;
	wr.wr.rdma.rkey = to.lkey;
	for (int round = 0; round < 4; round++) {
		must_eq(rig_post(pair.qa, &wr), 0);
		must_eq(ibv_modify_qp(pair.qa, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY),
			0);
		draining = rig_attr(pair.qa).sq_draining;
		if (!ibv_poll_cq(pair.a->cq, 1, &wc)) {
			must(draining);
			rig_must_complete(pair.a->cq, wr.wr_id, IBV_WC_SUCCESS);
		}
		rig_must_hear(pair.a, IBV_EVENT_SQ_DRAINED, pair.qa);
		must_eq(rig_attr(pair.qa).sq_draining, 0);
		must_eq(rig_to_state(pair.qa, IBV_QPS_RTS), 0);
	}
}

ROW("a QP that left SQD before its end tells nothing when it comes there again")
{
	struct pair pair = draining_pair(1);

	must_eq(rig_to_state(pair.qa, IBV_QPS_RTS), 0);
	must_eq(rig_to_state(pair.qa, IBV_QPS_SQD), 0);
	pair_must_receive(&pair, 1);
	rig_must_hear_nothing(pair.a->ctx, 20);
}

ROW("a QP that was reset in SQD tells nothing when it comes there again")
{
	static const enum ibv_qp_state ends[] = { IBV_QPS_ERR, IBV_QPS_RESET };

	for (int i = 0; i < 2; i++) {
		struct pair pair = draining_pair(1);
		const struct rig_link link = rig_link_to(pair.qb->qp_num, pair.b->lid);

		must_eq(rig_to_state(pair.qa, ends[i]), 0);
		must_eq(rig_to_state(pair.qa, IBV_QPS_RESET), 0);
		must_eq(rig_bring_up(pair.qa, &link), 0);
		must_eq(rig_to_state(pair.qa, IBV_QPS_SQD), 0);
		rig_must_hear_nothing(pair.a->ctx, 20);
	}
}

/* ---- CQs ---- */

/* Arming a CQ makes the adapter look at all CQs. */
ROW("a CQ that was never armed raises no event")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_cq *other = MADE(ibv_create_cq(pair.b->ctx, 1, NULL, pair.b->channel, 0));

	must_eq(ibv_req_notify_cq(other, 0), 0);
	pair_must_receive(&pair, 1);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	must(!rig_readable(pair.b->channel->fd, 20));
}

/* The entry that ends the old ring is no completion. */
ROW("a CQ that is resized stays armed, and raises no event by that")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_cq *other = MADE(ibv_create_cq(pair.b->ctx, 1, NULL, pair.b->channel, 0));

	pair_must_receive(&pair, 2);
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_complete(pair.b->cq, 1, IBV_WC_SUCCESS);
	must_eq(ibv_req_notify_cq(pair.b->cq, 0), 0);
	must_eq(ibv_resize_cq(pair.b->cq, 200), 0);
	must_eq(ibv_req_notify_cq(other, 0), 0);
	must(!rig_readable(pair.b->channel->fd, 20));
	pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_be_notified(pair.b);
	rig_must_complete(pair.b->cq, 2, IBV_WC_SUCCESS);
}

ROW("a CQ is not resized below its content")
{
	struct pair pair = pair_up(IBV_QPT_RC);

	pair_must_receive(&pair, 10);
	for (int i = 0; i < 10; i++)
		pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	must_eq(ibv_resize_cq(pair.b->cq, 3), EINVAL);
	must(pair.b->cq->cqe >= 10);
	for (uint64_t id = 1; id <= 10; id++)
		rig_must_complete(pair.b->cq, id, IBV_WC_SUCCESS);
}

ROW("a CQ is resized to what its content needs")
{
	struct pair pair = pair_up(IBV_QPT_RC);

	pair_must_receive(&pair, 6);
	for (int i = 0; i < 6; i++)
		pair_must_send(&pair, PAIR_BYTES, IBV_WC_SUCCESS);
	must_eq(ibv_resize_cq(pair.b->cq, 7), 0);
	must_eq(pair.b->cq->cqe, 7);
	for (uint64_t id = 1; id <= 6; id++)
		rig_must_complete(pair.b->cq, id, IBV_WC_SUCCESS);
}

/* The stamp of the completion of one request. */
static uint64_t stamp(const struct pair *pair, struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr none = { 0 };
	struct ibv_send_wr wr = pair_wr(pair, IBV_WR_RDMA_WRITE, 0, 0, 1);
	double end = seconds() + RIG_PATIENCE_MS / 1e3;
	uint64_t ticks;

	must_eq(rig_post(pair->qa, &wr), 0);
	while (ibv_start_poll(cq, &none) == ENOENT)
		must(seconds() < end);
	must_eq(cq->status, IBV_WC_SUCCESS);
	ticks = ibv_wc_read_completion_ts(cq);
	ibv_end_poll(cq);
	return ticks;
}

ROW("completions carry the time by the adapter's clock")
{
	struct ibv_cq_init_attr_ex attr = { .cqe = RIG_DEPTH,
					    .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP };
	struct pair pair = { .a = rig_host(0), .b = rig_host(1) };
	struct ibv_cq_ex *cq = MADE(ibv_create_cq_ex(pair.a->ctx, &attr));
	struct ibv_device_attr_ex device;
	double begin, elapsed, told;
	uint64_t first;

	must_eq(ibv_query_device_ex(pair.a->ctx, NULL, &device), 0);
	pair.a->cq = ibv_cq_ex_to_cq(cq);
	pair.qa = rig_qp(pair.a, IBV_QPT_RC, NULL);
	pair.qb = rig_qp(pair.b, IBV_QPT_RC, NULL);
	rig_connect(pair.a, pair.qa, pair.b, pair.qb);
	begin = seconds();
	first = stamp(&pair, cq);
	usleep(200000);
	told = (double)((stamp(&pair, cq) - first) & device.completion_timestamp_mask) /
	       (1e3 * (double)device.hca_core_clock);
	elapsed = seconds() - begin;
	must(told > 0.15);
	must(told < elapsed + 0.05);
}

/* ---- descriptors, domains, memory ---- */

/* Programs count on low numbers. A kernel's device takes one for commands, one for events. */
ROW("an open device takes two descriptors")
{
	int before = dup(0), after;

	close(before);
	MADE(ibv_open_device(ibv_get_device_list(NULL)[0]));
	after = dup(0);
	must_eq(after, before + 2);
}

ROW("a domain is busy until the last handle of its target is closed")
{
	struct xrc_stage s = xrc_stage();

	must_eq(ibv_destroy_srq(s.srq2), 0);
	must_eq(ibv_close_xrcd(s.xrcd2), EBUSY);
	must_eq(emulated_destroy_opened(s.opened), 0);
	must_eq(ibv_close_xrcd(s.xrcd2), 0);
	must_eq(ibv_destroy_srq(s.srq1), 0);
	must_eq(ibv_close_xrcd(s.xrcd1), EBUSY);
	must_eq(ibv_destroy_qp(s.target), 0);
	must_eq(ibv_close_xrcd(s.xrcd1), 0);
}

/* An adapter would write into the pages that it pinned (softhca.1). */
ROW("a read into memory that is gone fails at the reader alone")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_sge gone = rig_region(pair.a, rig_map(4096), 4096);
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_READ, 0, 0, BYTES);

	must_eq(munmap((void *)(uintptr_t)gone.addr, 4096), 0);
	gone.length = BYTES;
	*wr.sg_list = gone;
	must_eq(rig_post(pair.qa, &wr), 0);
	rig_must_complete(pair.a->cq, wr.wr_id, IBV_WC_LOC_PROT_ERR);
	must_eq(rig_state(pair.qb), IBV_QPS_RTS);
}

ROW("a region that moves to another protection domain opens for that one only")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_pd *pd = MADE(ibv_alloc_pd(pair.b->ctx));
	struct ibv_send_wr wr = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, BYTES);

	must_eq(ibv_rereg_mr(pair.b->mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	must_eq(ibv_dealloc_pd(pd), EBUSY);
	must_eq(ibv_rereg_mr(pair.b->mr, IBV_REREG_MR_CHANGE_PD, pair.b->pd, NULL, 0, 0), 0);
	rig_must_send(pair.qa, &wr, IBV_WC_SUCCESS);
	must_eq(ibv_rereg_mr(pair.b->mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	must_eq(rig_post(pair.qa, &wr), 0);
	rig_must_complete(pair.a->cq, wr.wr_id, IBV_WC_REM_ACCESS_ERR);
}
