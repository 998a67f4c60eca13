/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program whose daemon dies: it still gets the completions from before, and after them nothing waits for ever. */
#include "pair.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGES 4

static void kill_daemon(void)
{
	const char *pid = getenv("ORPHAN_DAEMON");

	NEED(pid && !kill(atoi(pid), SIGKILL));
}

static bool drained(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	for (int i = 0; i < MESSAGES; i++)
		CHECK(ibv_poll_cq(cq, 1, &wc) == 1 && !wc.status);
	return true;
}

/* Empty at first, as a CQ may be, and then an error. */
static bool fails_soon(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	errno = 0;
	CHECK(!rig_poll(cq, &wc) && errno == EIO);
	return true;
}

static bool daemon_dies(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 100);
	struct ibv_cq *cq;
	void *cq_context;

	CHECK(!ibv_req_notify_cq(pair.a->cq, 0));
	memset(pair.a->buffer, 1, 100);
	for (size_t i = 0; i < MESSAGES; i++)
		CHECK(!rig_post_recv(pair.b, pair.qb, 100 * i, 100, 1) && !rig_post(pair.qa, &wr));
	CHECK(rig_readable(pair.a->channel->fd, RIG_PATIENCE_MS) && !ibv_get_cq_event(pair.a->channel, &cq, &cq_context));
	/* The last message has arrived. A command is answered after what the daemon is doing, so its completion is there, too. */
	CHECK(rig_changes(pair.b->buffer + 100 * MESSAGES - 1) && rig_state(pair.qa) == IBV_QPS_RTS);
	kill_daemon();
	/* Threads that wait for events wake up at once; polling threads get -1. */
	CHECK(rig_readable(pair.a->channel->fd, RIG_PATIENCE_MS) && ibv_get_cq_event(pair.a->channel, &cq, &cq_context));
	CHECK(rig_readable(pair.a->ctx->async_fd, RIG_PATIENCE_MS));
	CHECK(drained(pair.a->cq) && fails_soon(pair.a->cq) && drained(pair.b->cq) && fails_soon(pair.b->cq));
	CHECK(!ibv_alloc_pd(pair.a->ctx) && errno == EIO);
	return true;
}

static bool flushed(struct host *host, struct ibv_qp *qp, uint64_t wr_id)
{
	struct ibv_wc wc = { 0 };

	CHECK(rig_poll(host->cq, &wc));
	CHECK(wc.status == IBV_WC_WR_FLUSH_ERR && wc.wr_id == wr_id && wc.qp_num == qp->qp_num);
	return true;
}

static bool post_send(struct pair *pair, uint64_t wr_id, unsigned int flags)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair->a, &sge, IBV_WR_SEND, 0, 100);

	wr.wr_id = wr_id;
	wr.send_flags = flags;
	return !rig_post(pair->qa, &wr);
}

/* The peer never answers, and timeout 0 has the sender wait for ever. */
static struct pair with_deaf_peer(void)
{
	struct rig_link link = rig_link_to(0, 0);
	struct pair pair;

	link.timeout = 0;
	pair = pair_up(IBV_QPT_RC, &link);
	NEED(!rig_to_state(pair.qb, IBV_QPS_RESET));
	return pair;
}

/* What was posted before the death, and what is posted after it. */
static bool what_was_posted_is_flushed(void)
{
	struct pair pair = with_deaf_peer();
	struct ibv_qp *idle = rig_qp(pair.a, IBV_QPT_RC, NULL);
	struct ibv_wc wc;

	CHECK(idle);
	CHECK(post_send(&pair, 201, IBV_SEND_SIGNALED) && post_send(&pair, 202, 0) && post_send(&pair, 203, IBV_SEND_SIGNALED));
	CHECK(!rig_post_recv(pair.a, pair.qa, 0, 100, 101) && !rig_post_recv(pair.a, pair.qa, 0, 100, 102));
	CHECK(rig_quiet(pair.a->cq, 50));
	kill_daemon();
	for (uint64_t wr_id = 201; wr_id <= 203; wr_id++)
		CHECK(flushed(pair.a, pair.qa, wr_id));
	CHECK(flushed(pair.a, pair.qa, 101) && flushed(pair.a, pair.qa, 102));
	CHECK(ibv_poll_cq(pair.a->cq, 1, &wc) == -1 && errno == EIO);
	for (uint64_t wr_id = 301; wr_id <= 340; wr_id++) {
		CHECK(post_send(&pair, wr_id, 0) && !rig_post_recv(pair.a, pair.qa, 0, 100, wr_id + 100));
		CHECK(flushed(pair.a, pair.qa, wr_id) && flushed(pair.a, pair.qa, wr_id + 100));
	}
	CHECK(ibv_poll_cq(pair.a->cq, 1, &wc) == -1 && errno == EIO);
	return true;
}

/* First the completions from before the death, then the flushed requests, each once. */
static bool what_was_done_comes_first(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(pair.a, &sge, IBV_WR_SEND, 0, 100);
	struct ibv_wc wc;

	for (uint64_t i = 0; i < RIG_DEPTH; i++)
		CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 500 + i));
	for (int i = 0; i < MESSAGES; i++)
		CHECK(!rig_post(pair.qa, &wr) && rig_poll(pair.a->cq, &wc) && !wc.status);
	kill_daemon();
	for (uint64_t i = 0; i < MESSAGES; i++)
		CHECK(rig_poll(pair.b->cq, &wc) && !wc.status && wc.wr_id == 500 + i);
	for (uint64_t i = MESSAGES; i < RIG_DEPTH; i++)
		CHECK(flushed(pair.b, pair.qb, 500 + i));
	CHECK(ibv_poll_cq(pair.b->cq, 1, &wc) == -1);
	return fails_soon(pair.a->cq);
}

/* A request without a completion that was carried out is not flushed. */
static bool what_asked_for_no_completion(void)
{
	struct pair pair = pair_up(IBV_QPT_RC, NULL);
	struct ibv_wc wc;

	CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1) && post_send(&pair, 2, 0));
	CHECK(rig_poll(pair.b->cq, &wc) && !wc.status);
	/* A command comes after all that the daemon was doing. */
	CHECK(rig_state(pair.qa) == IBV_QPS_RTS);
	kill_daemon();
	return fails_soon(pair.a->cq);
}

/* The CQ has moved to another ring. */
static bool resized_cq(void)
{
	struct host *host = rig_host(0);
	struct ibv_qp *qp = rig_qp(host, IBV_QPT_RC, NULL);
	const struct rig_link link = rig_link_to(1, 1);

	CHECK(!rig_init(qp, &link) && !ibv_resize_cq(host->cq, 200));
	CHECK(!rig_post_recv(host, qp, 0, 100, 31) && !rig_post_recv(host, qp, 0, 100, 32));
	kill_daemon();
	return flushed(host, qp, 31) && flushed(host, qp, 32) && fails_soon(host->cq);
}

static bool start(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = { 0 };
	double end = rig_now() + RIG_PATIENCE_MS / 1e3;
	int error;

	while ((error = ibv_start_poll(cq, &attr)) == ENOENT && rig_now() < end)
		usleep(1000);
	return !error;
}

/* Such a CQ is polled by functions of its own; and it has less room than there are requests. */
static bool extended_cq(void)
{
	struct host *host = rig_host(0);
	struct ibv_cq_init_attr_ex ask = { .cqe = 3, .wc_flags = IBV_WC_EX_WITH_QP_NUM };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(host->ctx, &ask);
	const struct rig_link link = rig_link_to(1, 1);
	struct ibv_cq *usual = host->cq;
	struct ibv_qp *qp;

	NEED(cq);
	host->cq = ibv_cq_ex_to_cq(cq);
	qp = rig_qp(host, IBV_QPT_RC, NULL);
	NEED(!rig_init(qp, &link));
	for (uint64_t i = 0; i < RIG_DEPTH; i++)
		CHECK(!rig_post_recv(host, qp, 0, 100, 700 + i));
	kill_daemon();
	for (uint64_t i = 0; i < RIG_DEPTH; i++) {
		CHECK(start(cq));
		CHECK(cq->status == IBV_WC_WR_FLUSH_ERR && cq->wr_id == 700 + i && ibv_wc_read_qp_num(cq) == qp->qp_num);
		ibv_end_poll(cq);
	}
	host->cq = usual;
	return true;
}

static const struct rig_case cases[] = {
	CASE(daemon_dies), CASE(what_was_posted_is_flushed), CASE(what_was_done_comes_first),
	CASE(what_asked_for_no_completion), CASE(resized_cq), CASE(extended_cq),
};

RIG_MAIN(cases)
