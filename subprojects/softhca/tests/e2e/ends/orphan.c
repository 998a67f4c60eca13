/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program whose daemon dies. It gets the earlier completions, and then errors. */
#include <e2e/pair.h>

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

/* The CQ is empty at first, and then ibv_poll_cq returns an error. */
static bool fails_soon(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	errno = 0;
	CHECK(!rig_poll(cq, &wc) && errno == EIO);
	return true;
}

CASE(waits_and_polls_end_with_an_error)
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 100);
	struct ibv_async_event event;
	struct ibv_cq *cq;
	void *cq_context;

	CHECK(!ibv_req_notify_cq(pair.a->cq, 0));
	memset(pair.a->buffer, 1, 100);
	for (size_t i = 0; i < MESSAGES; i++)
		CHECK(!rig_post_recv(pair.b, pair.qb, 100 * i, 100, 1) && !rig_post(pair.qa, &wr));
	CHECK(rig_cq_event(pair.a));
	/*
	 * The last message has arrived. The daemon answers a command after its other work, so the
	 * completion is there, too.
	 */
	CHECK(rig_changes(pair.b->buffer + 100 * MESSAGES - 1) &&
	      rig_state(pair.qa) == IBV_QPS_RTS);
	kill_daemon();
	/* Threads that wait for events wake up at once; polling threads get -1. */
	CHECK(rig_readable(pair.a->channel->fd, RIG_PATIENCE_MS) &&
	      ibv_get_cq_event(pair.a->channel, &cq, &cq_context));
	CHECK(rig_readable(pair.a->ctx->async_fd, RIG_PATIENCE_MS) &&
	      ibv_get_async_event(pair.a->ctx, &event));
	CHECK(drained(pair.a->cq) && fails_soon(pair.a->cq) && drained(pair.b->cq) &&
	      fails_soon(pair.b->cq));
	return !ibv_alloc_pd(pair.a->ctx) && errno == EIO;
}

/* Receives from before the daemon's death are still there. */
CASE(completions_come_before_the_error)
{
	struct pair pair = pair_up(IBV_QPT_RC);

	for (uint64_t i = 0; i < RIG_DEPTH; i++)
		CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 500 + i));
	for (int i = 0; i < MESSAGES; i++)
		CHECK(pair_send(&pair, 100, IBV_WC_SUCCESS));
	kill_daemon();
	CHECK(fails_soon(pair.a->cq));
	for (uint64_t i = 0; i < MESSAGES; i++)
		CHECK(rig_completes(pair.b->cq, 500 + i, IBV_WC_SUCCESS));
	return fails_soon(pair.b->cq);
}

/*
 * An extended CQ is polled by other functions. The preload replaces them at the next command, as
 * that which creates a QP.
 */
CASE(an_extended_cq_ends_with_an_error)
{
	struct host *host = rig_host(0);
	struct ibv_cq_init_attr_ex ask = { .cqe = 3, .wc_flags = IBV_WC_EX_WITH_QP_NUM };
	struct ibv_cq_ex *cq = MADE(ibv_create_cq_ex(host->ctx, &ask));
	struct ibv_poll_cq_attr attr = { 0 };
	double end = seconds() + RIG_PATIENCE_MS / 1e3;
	int err;

	NEED(ibv_alloc_pd(host->ctx));
	CHECK(ibv_start_poll(cq, &attr) == ENOENT);
	kill_daemon();
	while ((err = ibv_start_poll(cq, &attr)) == ENOENT && seconds() < end)
		usleep(1000);
	return err == EIO;
}
