/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Completion queues: their events, CQs that overrun, and CQs that are resized. */
#include <e2e/pair.h>

#include <harness/thread_state.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* ---- completion events ---- */

/* Posts a receive with this ID, and a message for it. */
static void post_xrc(struct xrc_stage *s, struct ibv_srq *srq, uint64_t id)
{
	struct ibv_send_wr wr = xrc_wr(s, IBV_WR_SEND, srq);

	must_eq(rig_post_srq(s->one, srq, 0, XRC_BYTES, id), 0);
	must_eq(rig_post(s->send, &wr), 0);
}

/* The second event is of a completion that came before the CQ was armed. */
ROW("one event per arming")
{
	struct xrc_stage s = xrc_stage();

	must_eq(ibv_req_notify_cq(s.one->cq, 0), 0);
	must(!rig_readable(s.one->channel->fd, 10));
	xrc_must_send(&s, s.srq1, s.one, IBV_WC_SUCCESS);
	post_xrc(&s, s.srq1, 1);
	rig_must_succeed(s.sender->cq);
	rig_must_be_notified(s.one);
	must(!rig_readable(s.one->channel->fd, 10));
	must_eq(ibv_req_notify_cq(s.one->cq, 0), 0);
	rig_must_be_notified(s.one);
}

/* An error is solicited, too. */
ROW("an unsolicited message raises no solicited event")
{
	struct xrc_stage s = xrc_stage();
	struct ibv_send_wr wr = xrc_wr(&s, IBV_WR_SEND, s.srq1);

	must_eq(ibv_req_notify_cq(s.one->cq, 1), 0);
	xrc_must_send(&s, s.srq1, s.one, IBV_WC_SUCCESS);
	must(!rig_readable(s.one->channel->fd, 10));
	wr.send_flags |= IBV_SEND_SOLICITED;
	must_eq(rig_post_srq(s.one, s.srq1, 0, XRC_BYTES, 1), 0);
	rig_must_send(s.send, &wr, IBV_WC_SUCCESS);
	rig_must_be_notified(s.one);
	wr.sg_list->lkey++;
	must_eq(ibv_req_notify_cq(s.sender->cq, 1), 0);
	must_eq(rig_post(s.send, &wr), 0);
	rig_must_be_notified(s.sender);
}

/* A message to b, whose CQ was armed, has raised a completion event. */
static struct pair event_at_b(void)
{
	struct pair pair = pair_up(IBV_QPT_RC);

	must_eq(ibv_req_notify_cq(pair.b->cq, 0), 0);
	must_eq(rig_post_recv(pair.b, pair.qb, 0, 10, 1), 0);
	pair_must_send(&pair, 10, IBV_WC_SUCCESS);
	must(rig_readable(pair.b->channel->fd, RIG_PATIENCE_MS));
	must_eq(ibv_destroy_qp(pair.qb), 0);
	return pair;
}

/* Destroying a CQ drops its unread event, because the event points to the CQ. */
ROW("destroying a CQ drops its unread event")
{
	struct pair pair = event_at_b();

	must_eq(ibv_destroy_cq(pair.b->cq), 0);
	must(!rig_readable(pair.b->channel->fd, 10));
}

/* The CQ that a thread destroys, and whether it has done so. */
struct ending {
	struct ibv_cq *cq;
	atomic_bool done;
};

static void *end(void *argument)
{
	struct ending *ending = argument;

	must_eq(ibv_destroy_cq(ending->cq), 0);
	ending->done = true;
	return NULL;
}

ROW("destroying a CQ waits until its read event is acknowledged")
{
	struct pair pair = event_at_b();
	struct ending ending = { 0 };
	void *cq_context;
	pthread_t thread;

	must(!ibv_get_cq_event(pair.b->channel, &ending.cq, &cq_context));
	must_eq(pthread_create(&thread, NULL, end, &ending), 0);
	usleep(200000);
	must(!ending.done);
	ibv_ack_cq_events(pair.b->cq, 1);
	must_eq(pthread_join(thread, NULL), 0);
}

/* ---- signals and a thread that waits ---- */

#define JUMPS 300

static sigjmp_buf before_wait;
static struct pair awaited; /* b's CQ is armed */
static atomic_int signals;
static atomic_int strays; /* alarms that the other thread has got */

/* Linux gives a signal of the process to the main thread, unless that thread blocks the signal. */
static void leave_wait(int number)
{
	(void)number;
	if (gettid() == getpid())
		siglongjmp(before_wait, 1);
	strays++;
	ualarm(20, 0);
}

static void *sleep_beside(void *thread)
{
	*(atomic_int *)thread = gettid();
	for (;;)
		pause();
	return NULL;
}

/* How many alarms go to the other thread while JUMPS leave a wait. */
static int strays_of_waits(struct ibv_comp_channel *channel)
{
	volatile int jumps = 0;
	struct ibv_cq *cq;
	void *cq_context;

	strays = 0;
	while (jumps < JUMPS) {
		if (sigsetjmp(before_wait, 1)) {
			jumps++;
			continue;
		}
		ualarm((useconds_t)(20 + jumps), 0);
		/* There is no event, so it does not return. */
		must(ibv_get_cq_event(channel, &cq, &cq_context) > 0);
	}
	return strays;
}

/*
 * Linux gives an alarm to the other thread if the main thread still has an earlier one to take. At
 * a load of 18 on two processors, 3 of 40 series have more than one such alarm, also at a pipe.
 */
ROW("an alarm leaves a wait for an event while another thread sleeps")
{
	struct host *host = rig_host(0);
	atomic_int sleeper = 0;
	int tries = 5;
	pthread_t thread;

	must_eq(pthread_create(&thread, NULL, sleep_beside, &sleeper), 0);
	while (!sleeper || thread_state(sleeper) != 'S')
		usleep(1000);
	must(signal(SIGALRM, leave_wait) != SIG_ERR);
	while (strays_of_waits(host->channel) > 1)
		must(--tries);
}

static void count_signal(int number)
{
	(void)number;
	signals++;
}

/* Sends a signal when the main thread sleeps, and then, if @message is not NULL, a message. */
static void *interrupt(void *message)
{
	while (thread_state(getpid()) != 'S')
		usleep(1000);
	must_eq(kill(getpid(), SIGUSR1), 0);
	while (!signals)
		usleep(1000);
	if (message)
		pair_must_send(&awaited, 10, IBV_WC_SUCCESS);
	return NULL;
}

/* 0, or the errno of ibv_get_cq_event(). */
static int wait_with_signal(int flags, void *message)
{
	struct sigaction action = { .sa_handler = count_signal, .sa_flags = flags };
	struct ibv_cq *cq;
	void *cq_context;
	pthread_t thread;
	int err;

	awaited = pair_up(IBV_QPT_RC);
	must_eq(ibv_req_notify_cq(awaited.b->cq, 0), 0);
	must_eq(rig_post_recv(awaited.b, awaited.qb, 0, 10, 1), 0);
	must_eq(sigaction(SIGUSR1, &action, NULL), 0);
	must_eq(pthread_create(&thread, NULL, interrupt, message), 0);
	err = ibv_get_cq_event(awaited.b->channel, &cq, &cq_context) ? errno : 0;
	must_eq(pthread_join(thread, NULL), 0);
	must_eq(signals, 1);
	return err;
}

ROW("a signal without SA_RESTART ends a wait")
{
	must_eq(wait_with_signal(0, NULL), EINTR);
}

ROW("a signal with SA_RESTART does not end a wait")
{
	must_eq(wait_with_signal(SA_RESTART, &awaited), 0);
}

/* ---- the cost of waiting ---- */

#define WAIT 0.3 /* seconds */

static double used_by_thread(void)
{
	struct timespec time;

	must(!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time));
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void *send_later(void *pair)
{
	usleep((useconds_t)(WAIT * 1e6));
	pair_must_send((struct pair *)pair, 10, IBV_WC_SUCCESS);
	return NULL;
}

static void wait_by_verb(struct host *host)
{
	rig_must_be_notified(host);
}

static void wait_by_poll(struct host *host)
{
	must(rig_readable(host->channel->fd, RIG_PATIENCE_MS));
}

static void wait_for_async_event(struct host *host)
{
	struct ibv_async_event event;

	must(!ibv_get_async_event(host->ctx, &event));
	ibv_ack_async_event(&event);
}

/* The first message to a QP in RTR raises both events. */
static void must_wait_without_cost(void (*wait)(struct host *host))
{
	struct pair pair = pair_apart(IBV_QPT_RC);
	struct rig_link to_b = rig_link_to(pair.qb->qp_num, pair.b->lid);
	double start, used;
	pthread_t thread;

	must_eq(rig_bring_up(pair.qa, &to_b), 0);
	pair_receiver_up(&pair, 1);
	must_eq(ibv_req_notify_cq(pair.b->cq, 0), 0);
	start = seconds();
	used = used_by_thread();
	must_eq(pthread_create(&thread, NULL, send_later, &pair), 0);
	wait(pair.b);
	must(used_by_thread() - used < WAIT / 20);
	must(seconds() - start >= WAIT);
	must_eq(pthread_join(thread, NULL), 0);
}

ROW("a thread that waits for an event takes no processor time")
{
	must_wait_without_cost(wait_by_verb);
	must_wait_without_cost(wait_by_poll);
	must_wait_without_cost(wait_for_async_event);
}

/* ---- CQs that overrun ---- */

/* A QP goes to ERR a moment after its CQ has overrun. */
static void must_fail_soon(struct host *host, struct ibv_qp *qp)
{
	double end = seconds() + RIG_PATIENCE_MS / 1e3;

	rig_must_hear(host, IBV_EVENT_QP_FATAL, qp);
	while (rig_state(qp) != IBV_QPS_ERR && seconds() < end)
		usleep(1000);
	must_eq(rig_state(qp), IBV_QPS_ERR);
}

ROW("an overrun CQ fails its QP")
{
	struct host *a = rig_host(0);
	struct rig_link link = rig_link_to(1, a->lid);
	struct ibv_send_wr wr = rig_wr(a, IBV_WR_SEND, 0, 1);
	struct ibv_qp *qp;

	must_eq(ibv_destroy_cq(a->cq), 0);
	a->cq = MADE(ibv_create_cq(a->ctx, 1, NULL, NULL, 0));
	qp = rig_qp(a, IBV_QPT_UC, NULL);
	must_eq(rig_bring_up(qp, &link), 0);
	for (int i = 0; i < a->cq->cqe + 2; i++)
		must_eq(rig_post(qp, &wr), 0);
	rig_must_hear(a, IBV_EVENT_CQ_ERR, a->cq);
	must_fail_soon(a, qp);
	must_eq(ibv_destroy_qp(qp), 0);
	rig_free_host(a);
}

/* A target with two SRQs, of which one has a CQ of its own that has overrun. */
struct overrun_srq {
	struct xrc_stage s;
	struct ibv_srq *srq;
	struct ibv_cq *small;
};

static struct overrun_srq overrun_srq(void)
{
	struct overrun_srq o = { .s = xrc_stage() };
	struct ibv_cq *cq = o.s.one->cq;

	o.small = o.s.one->cq = MADE(ibv_create_cq(o.s.one->ctx, 1, NULL, NULL, 0));
	o.srq = MADE(xrc_srq(o.s.one, o.s.xrcd1, RIG_DEPTH, 1));
	o.s.one->cq = cq;
	xrc_must_send(&o.s, o.s.srq1, o.s.one, IBV_WC_SUCCESS);
	rig_must_hear(o.s.one, IBV_EVENT_COMM_EST, o.s.target);
	for (int i = 0; i < o.small->cqe + 2; i++) {
		post_xrc(&o.s, o.srq, 1);
		rig_must_succeed(o.s.sender->cq);
	}
	rig_must_hear(o.s.one, IBV_EVENT_CQ_ERR, o.small);
	must_eq(rig_state(o.s.target), IBV_QPS_RTR);
	return o;
}

/* The target goes on delivering to other SRQs until a message for this one arrives. */
ROW("an overrun CQ of an SRQ fails the target at its next message")
{
	struct overrun_srq o = overrun_srq();

	xrc_must_send(&o.s, o.s.srq1, o.s.one, IBV_WC_SUCCESS);
	post_xrc(&o.s, o.srq, 1);
	rig_must_complete(o.s.sender->cq, 77, IBV_WC_REM_OP_ERR);
	must_fail_soon(o.s.one, o.s.target);
}

/* Its completion could not be reported. That of a write without immediate is the sender's alone. */
ROW("a write with immediate for an overrun CQ writes nothing and fails the target")
{
	struct overrun_srq o = overrun_srq();
	struct ibv_send_wr wr = xrc_wr(&o.s, IBV_WR_RDMA_WRITE, o.srq);
	uint8_t *at = o.s.one->buffer + RIG_BUFFER / 2;

	wr.wr.rdma.remote_addr = (uint64_t)(uintptr_t)at;
	wr.wr.rdma.rkey = o.s.one->mr->rkey;
	o.s.sender->buffer[0] = 1;
	rig_must_send(o.s.send, &wr, IBV_WC_SUCCESS);
	must_eq(at[0], 1);
	o.s.sender->buffer[0] = 2;
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	must_eq(rig_post_srq(o.s.one, o.srq, 0, XRC_BYTES, 1), 0);
	rig_must_send(o.s.send, &wr, IBV_WC_REM_OP_ERR);
	must_fail_soon(o.s.one, o.s.target);
	must_eq(at[0], 1);
}

/* It is empty, so there is room for its entries. */
ROW("an overrun CQ is not resized, even if all of it was polled")
{
	struct overrun_srq o = overrun_srq();
	const int entries = o.small->cqe;

	for (int i = 0; i < entries + 1; i++)
		rig_must_complete(o.small, 1, IBV_WC_SUCCESS);
	must_eq(ibv_resize_cq(o.small, 100), EINVAL);
	must_eq(o.small->cqe, entries);
	rig_must_be_quiet(o.small, 0);
	must_eq(ibv_resize_cq(o.s.one->cq, 100), 0);
}

/* ---- resized CQs ---- */

ROW("CQ resize keeps completions")
{
	struct xrc_stage s = xrc_stage();

	for (uint64_t round = 0; round < 40; round++) {
		for (uint64_t i = 0; i < 3; i++) {
			post_xrc(&s, s.srq1, 10 * round + i);
			rig_must_succeed(s.sender->cq);
		}
		must_eq(ibv_resize_cq(s.one->cq, round & 1 ? 60 : 6), 0);
		for (uint64_t i = 0; i < 3; i++)
			rig_must_complete(s.one->cq, 10 * round + i, IBV_WC_SUCCESS);
	}
}
