/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program whose daemon dies: what was completed is still there, and after that nothing waits for ever. */
#include "pair.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
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
	int got = 0;

	for (int i = 0; i < 2000 && !got; i++) {
		got = ibv_poll_cq(cq, 1, &wc);
		usleep(1000);
	}
	CHECK(got == -1 && errno == EIO);
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
	for (int i = 0; i < MESSAGES; i++)
		CHECK(!rig_post_recv(pair.b, pair.qb, 0, 100, 1) && !rig_post(pair.qa, &wr));
	CHECK(rig_readable(pair.a->channel->fd, 5000) && !ibv_get_cq_event(pair.a->channel, &cq, &cq_context));
	usleep(100000);
	kill_daemon();
	/* Whoever waits for events wakes up at once; the others hear of it by polling. */
	CHECK(rig_readable(pair.a->channel->fd, 5000) && ibv_get_cq_event(pair.a->channel, &cq, &cq_context));
	CHECK(rig_readable(pair.a->ctx->async_fd, 5000));
	CHECK(drained(pair.a->cq) && fails_soon(pair.a->cq) && drained(pair.b->cq) && fails_soon(pair.b->cq));
	CHECK(!ibv_alloc_pd(pair.a->ctx) && errno == EIO);
	return true;
}

static const struct rig_case cases[] = {
	{ "daemon_dies", daemon_dies },
};

RIG_MAIN(cases)
