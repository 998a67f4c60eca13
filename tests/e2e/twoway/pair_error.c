/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* One half fails: the QP has failed as a whole. */

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "pair.h"

/* A peer without a sign of life: the QP of that number is gone. */
static void lose_peer(struct end *a, struct end *b)
{
	ends_open(a, b);
	ends_connect(a, b);
	one_message(a, b);
	must_eq(ibv_destroy_qp(b->qp), 0);
	b->qp = NULL;
}

/* A second sender that our receiving half would take for its peer: as it has the same number, only a new one can tell. */
static void retries_exceeded(void)
{
	struct end a, b;

	lose_peer(&a, &b);
	refused(&a);
	must_eq(end_state(&a), IBV_QPS_ERR);
	must_flush(&a);
	end_close(&a);
	end_close(&b);
}

/* The peer has not connected back yet, so that what we send gets no answer; what it sends would arrive. */
static void send_unanswered(struct end *a, struct end *b)
{
	b->peer.qp_num += 1000;
	end_bring(a, IBV_QPS_RTS);
	end_bring(b, IBV_QPS_INIT);
	end_send(a, IBV_WR_SEND, 0, 8);
}

static void fail_by_retries(struct end *a, struct end *b)
{
	ends_open(a, b);
	end_post_recv(a, 1, 0, 4096);
	send_unanswered(a, b);
}

static void peer_comes_late(struct end *a, struct end *b)
{
	b->peer.qp_num = a->own.qp_num;
	must_eq(end_modify(b, IBV_QPS_RTR), 0);
	must_eq(end_modify(b, IBV_QPS_RTS), 0);
}

static void refuses_what_comes_in(void)
{
	struct end a, b;

	fail_by_retries(&a, &b);
	must_eq(end_poll(&a).status, IBV_WC_RETRY_EXC_ERR);
	peer_comes_late(&a, &b);
	refused(&b);
	end_quiet(&a);
	end_close(&a);
	end_close(&b);
}

/* The SRQs of a job may all be other processes': the QP alone must make its device notice. */
static void refuses_without_an_srq(void)
{
	struct end a, b;

	ends_open_without_srqs(&a, &b);
	send_unanswered(&a, &b);
	must_eq(end_poll(&a).status, IBV_WC_RETRY_EXC_ERR);
	peer_comes_late(&a, &b);
	end_send(&b, IBV_WR_RDMA_WRITE, 0, 8);
	must_eq(end_poll(&b).status, IBV_WC_RETRY_EXC_ERR);
	end_close(&a);
	end_close(&b);
}

static void query_alone_finds_out(void)
{
	struct end a, b;

	fail_by_retries(&a, &b);
	for (int i = 0; i < 500 && end_state(&a) != IBV_QPS_ERR; i++)
		usleep(2000);
	must_eq(end_state(&a), IBV_QPS_ERR);
	peer_comes_late(&a, &b);
	refused(&b);
	must_eq(end_poll(&a).status, IBV_WC_RETRY_EXC_ERR);
	end_quiet(&a);
	end_close(&a);
	end_close(&b);
}

/* Contract 5.9: no transition but to ERR or RESET leads out of ERR. */
static void nothing_leads_on(void)
{
	struct end a, b;

	lose_peer(&a, &b);
	refused(&a);
	must(end_modify(&a, IBV_QPS_RTS));
	must(end_modify(&a, IBV_QPS_INIT));
	must_eq(end_state(&a), IBV_QPS_ERR);
}

static void too_long(void)
{
	struct ibv_wc wc;
	struct end a, b;

	ends_open(&a, &b);
	ends_connect(&a, &b);
	one_message(&b, &a);
	end_post_recv(&b, 12, 0, 100);
	end_send(&a, IBV_WR_SEND, 0, 101);
	wc = end_poll(&b);
	must_eq(wc.status, IBV_WC_LOC_LEN_ERR);
	must_eq(wc.wr_id, 12);
	must_eq(wc.qp_num, b.qp->qp_num);
	must_eq(end_poll(&a).status, IBV_WC_REM_INV_REQ_ERR);
	must_flush(&b);
	must_flush(&a);
	must_eq(end_state(&a), IBV_QPS_ERR);
	must_eq(end_state(&b), IBV_QPS_ERR);
	end_close(&a);
	end_close(&b);
}

static void remote_access(enum ibv_wr_opcode opcode)
{
	struct ibv_async_event event;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct end a, b;

	ends_open(&a, &b);
	ends_connect(&a, &b);
	one_message(&a, &b);
	one_message(&b, &a);
	wr = end_wr(&a, &sge, opcode, 0, 64);
	wr.wr.rdma.rkey ^= 0x5500;
	end_post(&a, &wr);
	must_eq(end_poll(&a).status, IBV_WC_REM_ACCESS_ERR);
	event = end_event(&b);
	must_eq(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
	must(event.element.qp == b.qp);
	must_flush(&b);
	must_eq(end_state(&b), IBV_QPS_ERR);
	must_eq(end_state(&a), IBV_QPS_ERR);
	ibv_ack_async_event(&event);
	end_no_event(&b, 20);
	end_close(&a);
	end_close(&b);
}

static void bad_write(void)
{
	remote_access(IBV_WR_RDMA_WRITE);
}

static void bad_read(void)
{
	remote_access(IBV_WR_RDMA_READ);
}

/* Both ends are connected to a QP that destroys itself while the other thread polls the failures. */
struct poller {
	struct end *end;
	volatile bool stop;
	bool failed;
};

static void *poll_on(void *arg)
{
	struct poller *poller = arg;
	struct ibv_wc wc[16];

	while (!poller->stop) {
		must(ibv_poll_cq(poller->end->cq, 16, wc) >= 0);
		usleep(50);
	}
	return NULL;
}

static void destroyed_while_failing(void)
{
	struct poller poller = { 0 };
	struct end a, b;
	pthread_t thread;

	ends_open(&a, &b);
	poller.end = &a;
	must(!pthread_create(&thread, NULL, poll_on, &poller));
	for (int round = 0; round < 40; round++) {
		ends_connect(&a, &b);
		end_write_astray(&a);
		usleep((unsigned)round * 10);
		ends_renew(&a, &b);
	}
	poller.stop = true;
	must(!pthread_join(thread, NULL));
	end_close(&a);
	end_close(&b);
}

static void *poll_until_cancelled(void *arg)
{
	struct poller *poller = arg;

	for (;;) {
		struct ibv_wc wc;

		ibv_poll_cq(poller->end->cq, 1, &wc);
		pthread_testcancel();
	}
	return NULL;
}

/* Polling a failure takes the other half of the pair to ERR, by a verb that has cancellation points. */
static void cancelled_while_failing(void)
{
	struct poller poller = { 0 };
	struct end a, b;
	pthread_t thread;

	ends_open(&a, &b);
	poller.end = &a;
	for (int round = 0; round < 100; round++) {
		ends_connect(&a, &b);
		must(!pthread_create(&thread, NULL, poll_until_cancelled, &poller));
		end_write_astray(&a);
		usleep((unsigned)(random() % 1000));
		must(!pthread_cancel(thread));
		must(!pthread_join(thread, NULL));
		ends_renew(&a, &b);
	}
	end_close(&a);
	end_close(&b);
}

static void *poll_once_cancelled(void *arg)
{
	struct poller *poller = arg;
	struct ibv_wc wc;

	/* From here on the first cancellation point ends this thread. */
	pthread_cancel(pthread_self());
	while (!ibv_poll_cq(poller->end->cq, 1, &wc))
		;
	poller->failed = wc.status == IBV_WC_REM_ACCESS_ERR;
	pthread_testcancel();
	return NULL;
}

/* ibv_poll_cq never was a cancellation point: a thread with a pending cancel still gets the completion. */
static void cancelled_before_it_fails(void)
{
	struct poller poller = { 0 };
	struct end a, b;
	pthread_t thread;
	void *result;

	ends_open(&a, &b);
	ends_connect(&a, &b);
	poller.end = &a;
	end_write_astray(&a);
	must(!pthread_create(&thread, NULL, poll_once_cancelled, &poller));
	must(!pthread_join(thread, &result));
	must(result == PTHREAD_CANCELED && poller.failed);
	must_eq(end_state(&a), IBV_QPS_ERR);
	end_close(&a);
	end_close(&b);
}

const struct row error_rows[] = {
	{ "retries exceeded: it is in ERR, what is posted is flushed", retries_exceeded },
	{ "retries exceeded: what comes in is refused", refuses_what_comes_in },
	{ "retries exceeded: a write is refused, also without an SRQ", refuses_without_an_srq },
	{ "retries exceeded: a query alone finds out", query_alone_finds_out },
	{ "ERR is left through RESET only", nothing_leads_on },
	{ "a message longer than its buffer fails both halves", too_long },
	{ "a write with a wrong key: event, and ERR as a whole", bad_write },
	{ "a read with a wrong key: event, and ERR as a whole", bad_read },
	{ "destroyed by one thread while another polls its failure", destroyed_while_failing },
	{ "a cancelled thread still polls the failure", cancelled_before_it_fails },
	{ "destroyed after a thread that polled its failure was cancelled", cancelled_while_failing },
};

GROUP(error);
