/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Traffic for the daemon's counters, and how long the daemon takes.
 *
 *	traffic count			for the counters; waits until it is killed
 *	traffic rest send|extended|arm	prints the median ms until the daemon finds a doorbell that
 *					follows a pause: of a send, or of a CQ with a completion
 *	traffic crowd COUNT		so many processes send for 2 s; each prints the most ms that
 *					a message took
 */
#include <e2e/pair.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * 5 messages of 1000 bytes arrive, one waits for a buffer, one fails. Prints the QP numbers of the
 * sender, which then waits, of the receiver and of the failed QP.
 */
static int count(void)
{
	struct pair pair = pair_up(IBV_QPT_RC), failed = pair;
	struct ibv_send_wr write = pair_wr(&pair, IBV_WR_RDMA_WRITE, 0, 0, 1000),
			   send = pair_wr(&pair, IBV_WR_SEND, 0, 0, 1000);

	failed.qa = rig_qp(pair.a, IBV_QPT_RC, NULL);
	failed.qb = rig_qp(pair.b, IBV_QPT_RC, NULL);
	rig_connect(pair.a, failed.qa, pair.b, failed.qb);
	for (int i = 0; i < 5; i++) {
		must_eq(rig_post_recv(pair.b, pair.qb, 0, 1000, 1), 0);
		pair_must_send(&pair, 1000, IBV_WC_SUCCESS);
	}
	write.wr.rdma.rkey = 0xdead00;
	rig_must_send(failed.qa, &write, IBV_WC_REM_ACCESS_ERR);
	must_eq(rig_post(pair.qa, &send), 0);
	printf("%u %u %u\n", pair.qa->qp_num, pair.qb->qp_num, failed.qa->qp_num);
	return pause();
}

static double milliseconds(void)
{
	return seconds() * 1e3;
}

/* Does not wait for the completion. */
static void post_extended(const struct pair *pair)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(pair->qa);

	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	ibv_wr_set_sge(qp, pair->a->mr->lkey, (uintptr_t)pair->a->buffer, 2);
	must_eq(ibv_wr_complete(qp), 0);
}

/* How long it takes a program that polls all the time. */
static double timed_exchange(const struct pair *pair, bool extended)
{
	struct ibv_send_wr wr = pair_wr(pair, IBV_WR_SEND, 0, 0, 2);
	struct ibv_cq *cqs[] = { pair->a->cq, pair->b->cq };
	struct ibv_wc wc;
	double begin;
	int polled;

	must_eq(rig_post_recv(pair->b, pair->qb, 0, 2, 1), 0);
	begin = milliseconds();
	if (extended)
		post_extended(pair);
	else
		must_eq(rig_post(pair->qa, &wr), 0);
	for (int i = 0; i < 2; i++) {
		while (!(polled = ibv_poll_cq(cqs[i], 1, &wc)))
			continue;
		must_eq(polled, 1);
		must_eq(wc.status, IBV_WC_SUCCESS);
	}
	return milliseconds() - begin;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void extend_sender(struct pair *pair)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = pair->a->cq,
		.recv_cq = pair->a->cq,
		.qp_type = IBV_QPT_RC,
		.pd = pair->a->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	pair->qa = MADE(ibv_create_qp_ex(pair->a->ctx, &attr));
}

/* Returns the time from the request for an event of a completion that is there already. */
static double timed_arm(const struct pair *pair)
{
	double begin = milliseconds();

	must_eq(ibv_req_notify_cq(pair->b->cq, 0), 0);
	rig_must_be_notified(pair->b);
	begin = milliseconds() - begin;
	rig_must_succeed(pair->b->cq);
	return begin;
}

#define PAUSES 9

static int rest(const char *how)
{
	bool extended = !strcmp(how, "extended"), arm = !strcmp(how, "arm");
	struct pair pair = pair_apart(IBV_QPT_RC);
	double took[PAUSES];

	if (extended)
		extend_sender(&pair);
	rig_connect(pair.a, pair.qa, pair.b, pair.qb);
	for (int i = 0; i < PAUSES; i++) {
		if (arm) {
			must_eq(rig_post_recv(pair.b, pair.qb, 0, 2, 1), 0);
			pair_must_send(&pair, 2, IBV_WC_SUCCESS);
		}
		usleep(300000);
		took[i] = arm ? timed_arm(&pair) : timed_exchange(&pair, extended);
	}
	qsort(took, PAUSES, sizeof(took[0]), ascending);
	printf("%.3f\n", took[PAUSES / 2]);
	return EXIT_SUCCESS;
}

static int crowd(int count)
{
	int status, failed = 0;

	for (int i = 0; i < count; i++) {
		struct pair pair;
		double end, took, most = 0;

		if (fork())
			continue;
		pair = pair_up(IBV_QPT_RC);
		for (end = milliseconds() + 2000; milliseconds() < end;) {
			took = timed_exchange(&pair, false);
			most = took > most ? took : most;
		}
		printf("%.1f\n", most);
		return EXIT_SUCCESS;
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	must(argc > 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(argv[1], "count"))
		return count();
	must(argc > 2);
	return strcmp(argv[1], "crowd") ? rest(argv[2]) : crowd(atoi(argv[2]));
}
