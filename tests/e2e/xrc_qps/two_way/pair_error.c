/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A failure of one half takes both halves of the two-way QP to ERR. */

#define GROUP "error"

#include <unistd.h>

#include "pair.h"

/*
 * @b stays in INIT, so it acknowledges nothing and the retries of @a run out. Later
 * peer_comes_late() connects @b, whose sends would reach @a if that were not in ERR.
 */
static void send_unanswered(void)
{
	b.peer.qp_num += 1000;
	side_bring(&a, IBV_QPS_RTS);
	side_bring(&b, IBV_QPS_INIT);
	side_send(&a, IBV_WR_SEND, 0, 8);
}

static void peer_comes_late(void)
{
	b.peer.qp_num = a.own.qp_num;
	must_eq(side_modify(&b, IBV_QPS_RTR), 0);
	must_eq(side_modify(&b, IBV_QPS_RTS), 0);
}

ROW("after its retries are exceeded, a QP acknowledges no message, is in ERR and flushes sends")
{
	side_post_recv(&a, 1, 0, 4096);
	send_unanswered();
	completes_with(&a, IBV_WC_RETRY_EXC_ERR);
	peer_comes_late();
	must_exceed_retries(&b);	/* before any other verb on a */
	side_no_completion(&a);
	must_eq(side_state(&a), IBV_QPS_ERR);
	must_flush(&a);
}

/* A process has no SRQ of its own if other processes of the job have all SRQs. */
ROW("after its retries are exceeded, a QP without an SRQ acknowledges no write")
{
	side_close(&a);
	side_open_without_srq(&a, 0, -1, false);
	side_create_qp(&a, SIDE_DEPTH);
	meet();
	send_unanswered();
	completes_with(&a, IBV_WC_RETRY_EXC_ERR);
	peer_comes_late();
	side_send(&b, IBV_WR_RDMA_WRITE, 0, 8);
	completes_with(&b, IBV_WC_RETRY_EXC_ERR);
}

ROW("after its retries are exceeded, a query without a poll takes the receiving half to ERR")
{
	side_post_recv(&a, 1, 0, 4096);
	send_unanswered();
	while (side_state(&a) != IBV_QPS_ERR)	/* the row's time limit ends this */
		usleep(2000);
	peer_comes_late();
	must_exceed_retries(&b);
	completes_with(&a, IBV_WC_RETRY_EXC_ERR);
	side_no_completion(&a);
}

ROW("a message longer than its buffer fails both halves")
{
	struct ibv_wc wc;

	connect_sides();
	side_post_recv(&b, 12, 0, 100);
	side_send(&a, IBV_WR_SEND, 0, 101);
	wc = side_poll(&b);
	must_eq(wc.status, IBV_WC_LOC_LEN_ERR);
	must_eq(wc.wr_id, 12);
	must_eq(wc.qp_num, b.qp->qp_num);
	completes_with(&a, IBV_WC_REM_INV_REQ_ERR);
	must_flush(&b);
	must_flush(&a);
	must_eq(side_state(&a), IBV_QPS_ERR);
	must_eq(side_state(&b), IBV_QPS_ERR);
}

ROW("a write or read with a wrong key: one event at the peer, and both QPs are in ERR")
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };
	struct ibv_async_event event;

	for (int i = 0; i < 2; i++) {
		connect_sides();
		side_post_wrong_key(&a, opcodes[i]);
		completes_with(&a, IBV_WC_REM_ACCESS_ERR);
		event = side_event(&b);
		must_eq(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
		must(event.element.qp == b.qp);
		must_flush(&b);
		must_eq(side_state(&b), IBV_QPS_ERR);
		must_eq(side_state(&a), IBV_QPS_ERR);
		ibv_ack_async_event(&event);
		side_no_event(&b, 20);
		renew_qps();
	}
}

static void *poll_once_cancelled(void *unused)
{
	struct ibv_wc wc;

	/* From here on the first cancellation point ends this thread. */
	pthread_cancel(pthread_self());
	while (!ibv_poll_cq(a.cq, 1, &wc))
		;
	must_eq(wc.status, IBV_WC_REM_ACCESS_ERR);
	a.memory[0] = 'p';
	pthread_testcancel();
	return unused;
}

/*
 * ibv_poll_cq never was a cancellation point. When it finds a failed completion, it takes the
 * pair's other half to ERR by ibv_modify_qp, which has cancellation points.
 */
ROW("ibv_poll_cq returns a failed completion to a thread with a pending cancel")
{
	connect_sides();
	side_post_wrong_key(&a, IBV_WR_RDMA_WRITE);
	must(join_thread(start_thread(poll_once_cancelled, NULL)) == PTHREAD_CANCELED);
	must_eq(a.memory[0], 'p');
	must_eq(side_state(&a), IBV_QPS_ERR);
}

/* ---- QPs are destroyed while other threads handle their failure ---- */

static volatile bool stop;

/* Polls the CQ of @a. Counts the failures. */
static void *poll_on(void *failures)
{
	struct ibv_wc wc;

	while (!stop) {
		if (ibv_poll_cq(a.cq, 1, &wc) == 1 && wc.status == IBV_WC_REM_ACCESS_ERR)
			++*(int *)failures;
		usleep(50);
	}
	return NULL;
}

/* Reads the events of @b. Counts the access errors. */
static void *handle_all(void *errors)
{
	struct ibv_async_event event;

	for (;;) {
		must_eq(ibv_get_async_event(b.context, &event), 0);
		if (event.event_type == IBV_EVENT_PORT_ACTIVE)
			return NULL;
		++*(int *)errors;
		ibv_ack_async_event(&event);
	}
}

ROW("QPs can be destroyed while threads poll a failed completion and read an access error")
{
	int failures = 0, errors = 0;
	pthread_t poller = start_thread(poll_on, &failures);
	pthread_t reader = start_thread(handle_all, &errors);

	for (int round = 0; round < 100; round++) {
		connect_sides();
		side_post_wrong_key(&a, IBV_WR_RDMA_WRITE);
		usleep((useconds_t)round % 40 * 10);	/* before, during and after both */
		side_destroy_qp(&b);
		side_destroy_qp(&a);
		renew_qps();
	}
	stop = true;
	inject_event(1, "port_active", 1);
	join_thread(poller);
	join_thread(reader);
	must(failures && errors);
}
