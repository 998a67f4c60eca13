/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program whose daemon dies. It gets the earlier completions, and then errors. */
#include <e2e/pair.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGES 4

static void kill_daemon(void)
{
	const char *pid = getenv("ORPHAN_DAEMON");

	must(pid && !kill(atoi(pid), SIGKILL));
}

static void must_drain(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	for (int i = 0; i < MESSAGES; i++) {
		must_eq(ibv_poll_cq(cq, 1, &wc), 1);
		must_eq(wc.status, 0);
	}
}

/* The CQ is empty at first, and then ibv_poll_cq returns an error. */
static void must_fail_soon(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	errno = 0;
	must_eq(rig_poll(cq, &wc, RIG_PATIENCE_MS), -1);
	must_eq(errno, EIO);
}

ROW("waits and polls end with an error")
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_send_wr wr = rig_wr(pair.a, IBV_WR_SEND, 0, 100);
	struct ibv_async_event event;
	struct ibv_cq *cq;
	void *cq_context;

	must_eq(ibv_req_notify_cq(pair.a->cq, 0), 0);
	memset(pair.a->buffer, 1, 100);
	for (size_t i = 0; i < MESSAGES; i++) {
		must_eq(rig_post_recv(pair.b, pair.qb, 100 * i, 100, 1), 0);
		must_eq(rig_post(pair.qa, &wr), 0);
	}
	rig_must_be_notified(pair.a);
	/*
	 * The last message has arrived. The daemon answers a command after its other work, so the
	 * completion is there, too.
	 */
	must(rig_changes(pair.b->buffer + 100 * MESSAGES - 1));
	must_eq(rig_state(pair.qa), IBV_QPS_RTS);
	kill_daemon();
	/* Threads that wait for events wake up at once; polling threads get -1. */
	must(rig_readable(pair.a->channel->fd, RIG_PATIENCE_MS));
	must(ibv_get_cq_event(pair.a->channel, &cq, &cq_context));
	must(rig_readable(pair.a->ctx->async_fd, RIG_PATIENCE_MS));
	must(ibv_get_async_event(pair.a->ctx, &event));
	must_drain(pair.a->cq);
	must_fail_soon(pair.a->cq);
	must_drain(pair.b->cq);
	must_fail_soon(pair.b->cq);
	errno = 0;
	must(!ibv_alloc_pd(pair.a->ctx));
	must_eq(errno, EIO);
}

/* Receives from before the daemon's death are still there. */
ROW("completions come before the error")
{
	struct pair pair = pair_up(IBV_QPT_RC);

	for (uint64_t i = 0; i < RIG_DEPTH; i++)
		must_eq(rig_post_recv(pair.b, pair.qb, 0, 100, 500 + i), 0);
	for (int i = 0; i < MESSAGES; i++)
		pair_must_send(&pair, 100, IBV_WC_SUCCESS);
	kill_daemon();
	must_fail_soon(pair.a->cq);
	for (uint64_t i = 0; i < MESSAGES; i++)
		rig_must_complete(pair.b->cq, 500 + i, IBV_WC_SUCCESS);
	must_fail_soon(pair.b->cq);
}

/*
 * An extended CQ is polled by other functions. The preload replaces these functions at a later
 * command, when libibverbs has finished the CQ. Here the last command allocates a domain.
 */
static struct ibv_cq_ex *extended_cq(struct host *host)
{
	struct ibv_cq_init_attr_ex ask = { .cqe = 3, .wc_flags = IBV_WC_EX_WITH_QP_NUM };

	return MADE(ibv_create_cq_ex(host->ctx, &ask));
}

static void extended_must_fail_soon(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = { 0 };
	double end = seconds() + RIG_PATIENCE_MS / 1e3;
	int err;

	while ((err = ibv_start_poll(cq, &attr)) == ENOENT && seconds() < end)
		usleep(1000);
	must_eq(err, EIO);
}

ROW("an extended CQ ends with an error")
{
	struct host *host = rig_host(0);
	struct ibv_cq_ex *cq = extended_cq(host);
	struct ibv_poll_cq_attr attr = { 0 };

	MADE(ibv_alloc_pd(host->ctx));
	must_eq(ibv_start_poll(cq, &attr), ENOENT);
	kill_daemon();
	extended_must_fail_soon(cq);
}

/* Fills freed memory of the heap, from which libmlx4 takes its CQs, with @byte. */
static void soil_heap(int byte)
{
	void *dirt[128];

	for (size_t i = 0; i < 128; i++) {
		dirt[i] = MADE(malloc(100 + 8 * i));
		memset(dirt[i], byte, 100 + 8 * i);
	}
	for (size_t i = 0; i < 128; i++)
		free(dirt[i]);
}

ROW("after plain CQs on a dirty heap an extended CQ fails")
{
	struct host *host = rig_host(0);
	struct ibv_cq_ex *cq;

	for (int i = 0; i < 8; i++) {
		soil_heap('A' + i);
		MADE(ibv_create_cq(host->ctx, 3, NULL, NULL, 0));
		MADE(ibv_alloc_pd(host->ctx));
	}
	cq = extended_cq(host);
	MADE(ibv_alloc_pd(host->ctx));
	kill_daemon();
	extended_must_fail_soon(cq);
}

#define MAKERS 8
#define EACH   200

struct maker {
	struct host *host;
	struct ibv_cq_ex *cq[EACH];
};

static void *make_cqs(void *argument)
{
	struct maker *maker = argument;

	for (int i = 0; i < EACH; i++)
		maker->cq[i] = extended_cq(maker->host);
	return NULL;
}

ROW("extended CQs that threads made at once end with an error")
{
	static struct maker maker[MAKERS];
	struct host *host = rig_host(0);
	pthread_t thread[MAKERS];

	for (int i = 0; i < MAKERS; i++) {
		maker[i].host = host;
		must_eq(pthread_create(&thread[i], NULL, make_cqs, &maker[i]), 0);
	}
	for (int i = 0; i < MAKERS; i++)
		must_eq(pthread_join(thread[i], NULL), 0);
	MADE(ibv_alloc_pd(host->ctx));
	kill_daemon();
	for (int i = 0; i < MAKERS * EACH; i++)
		extended_must_fail_soon(maker[i / EACH].cq[i % EACH]);
}

/* ---- another daemon in the place of the first ---- */

static void run_command(const char *verb)
{
	char command[512];

	snprintf(command, sizeof(command), "LD_PRELOAD= %s %s", getenv("SOFTHCA_TEST_COMMAND"),
		 verb);
	must(!system(command));
}

static void must_stay_ended(const struct pair *old)
{
	struct ibv_wc wc;

	errno = 0;
	must(!ibv_alloc_pd(old->a->ctx));
	must_eq(errno, EIO);
	must_eq(ibv_poll_cq(old->a->cq, 1, &wc), -1);
	must_eq(rig_to_state(old->qa, IBV_QPS_ERR), EIO);
}

/* How many pages the program has mapped to wake daemons. It has one of each daemon. */
static int wake_pages(void)
{
	struct rig_mapping page = { 0 };
	int pages = 0;

	while (rig_find_mapping("memfd:softhca-wake", page.end, &page))
		pages++;
	return pages;
}

static void must_exchange(const struct pair *pair)
{
	struct ibv_wc wc;

	must_eq(ibv_req_notify_cq(pair->b->cq, 0), 0);
	pair_must_receive(pair, 1);
	pair_must_send(pair, PAIR_BYTES, IBV_WC_SUCCESS);
	rig_must_be_notified(pair->b);
	rig_must_complete(pair->b->cq, 1, IBV_WC_SUCCESS);
	must_eq(ibv_poll_cq(pair->a->cq, 1, &wc), 0);
}

/* The objects of both daemons have the same handles and numbers. */
ROW("a daemon that is started again serves new contexts beside the old ones")
{
	struct pair old = pair_up(IBV_QPT_RC), new;

	must_exchange(&old);
	must_eq(wake_pages(), 1);
	run_command("stop");
	must_fail_soon(old.a->cq);
	run_command("start");
	must_stay_ended(&old);
	new = pair_up(IBV_QPT_RC);
	must_exchange(&new);
	must_eq(wake_pages(), 2);
	must_stay_ended(&old);
	must_eq(ibv_close_device(old.a->ctx), 0);
	must_eq(ibv_close_device(old.b->ctx), 0);
	must_exchange(&new);
	pair_tear_down(&new);
}
