/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events of a two-way QP name the ibv_qp that the program has, whichever half raised them. */

#define GROUP "event"

#include <pthread.h>
#include <unistd.h>

#include "pair.h"

ROW("COMM_EST names the legacy QP")
{
	struct ibv_async_event event;
	struct end a, b;

	ends_open(&a, &b);
	end_bring(&a, IBV_QPS_RTS);
	end_bring(&b, IBV_QPS_RTR);
	one_message(&a, &b);
	event = end_event(&b);
	must_eq(event.event_type, IBV_EVENT_COMM_EST);
	must(event.element.qp == b.qp);
	must_eq(event.element.qp->qp_num, b.own.qp_num);
	ibv_ack_async_event(&event);
	end_no_event(&b, 20);
	must_eq(end_modify(&b, IBV_QPS_RTS), 0);
	one_message(&b, &a);
	ends_close(&a, &b);
}

static const struct {
	const char *name;
	enum ibv_event_type type;
	bool fatal;
} kinds[] = {
	{ "comm_est", IBV_EVENT_COMM_EST, false },
	{ "path_mig", IBV_EVENT_PATH_MIG, false },
	{ "path_mig_err", IBV_EVENT_PATH_MIG_ERR, false },
	{ "last_wqe_reached", IBV_EVENT_QP_LAST_WQE_REACHED, false },
	{ "qp_fatal", IBV_EVENT_QP_FATAL, true },
	{ "qp_req_err", IBV_EVENT_QP_REQ_ERR, true },
	{ "qp_access_err", IBV_EVENT_QP_ACCESS_ERR, true },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

ROW("each event of the receiving half names the QP; after a fatal one the QP is in ERR")
{
	struct ibv_async_event event;
	struct end a, b;

	ends_open(&a, &b);
	for (size_t i = 0; i < KINDS; i++) {
		ends_connect(&a, &b);
		inject_event(0, kinds[i].name, hidden_target_number(a.own.qp_num));
		event = end_event(&a);
		must_eq(event.event_type, kinds[i].type);
		must(event.element.qp == a.qp);
		must_eq(end_state(&a), kinds[i].fatal ? IBV_QPS_ERR : IBV_QPS_RTS);
		if (kinds[i].fatal)
			must_flush(&a);
		ibv_ack_async_event(&event);
		end_no_event(&a, 0);
		end_modify(&a, IBV_QPS_RESET);
		end_modify(&b, IBV_QPS_RESET);
	}
	ends_close(&a, &b);
}

#define EVENTS 6

/* Raises and reads events of both halves alternately. */
static void get_both_halves(struct end *end, struct ibv_async_event *events)
{
	for (int i = 0; i < EVENTS; i++) {
		inject_event(0, "path_mig",
			     i % 2 ? end->own.qp_num : hidden_target_number(end->own.qp_num));
		events[i] = end_event(end);
		must_eq(events[i].event_type, IBV_EVENT_PATH_MIG);
		must(events[i].element.qp == end->qp);
	}
}

ROW("destroy after events of both halves were acked in reverse, or half by half")
{
	static const int orders[][EVENTS] = {
		{ 5, 4, 3, 2, 1, 0 },
		{ 1, 3, 5, 4, 0, 2 }, /* one half after the other */
	};
	struct ibv_async_event events[EVENTS];
	struct end a, b;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		ends_open(&a, &b);
		get_both_halves(&a, events);
		for (int event = 0; event < EVENTS; event++)
			ibv_ack_async_event(&events[orders[i][event]]);
		ends_close(&a, &b);
	}
}

struct destroyer {
	struct end *end;
	volatile bool done;
};

static void *destroy(void *arg)
{
	struct destroyer *destroyer = arg;

	must_eq(ibv_destroy_qp(destroyer->end->qp), 0);
	destroyer->done = true;
	return NULL;
}

/* Contract 1.3: until the acknowledgement a handler may use the QP. */
ROW("destroy waits for the ack of every event of both halves")
{
	struct ibv_async_event events[EVENTS];
	struct end a, b;
	struct destroyer destroyer = { .end = &a };
	pthread_t thread;

	ends_open(&a, &b);
	get_both_halves(&a, events);
	must(!pthread_create(&thread, NULL, destroy, &destroyer));
	for (int i = 0; i < EVENTS; i++) {
		usleep(20000);		/* a wrong return would come within this time */
		must(!destroyer.done);
		must_eq(events[i].element.qp->qp_num, a.own.qp_num);
		ibv_ack_async_event(&events[i]);
	}
	must(!pthread_join(thread, NULL));
	a.qp = NULL;
	ends_close(&a, &b);
}

static void *destroy_cancelled(void *arg)
{
	/* The first cancellation point that takes effect is the wait. */
	pthread_cancel(pthread_self());
	destroy(arg);
	return NULL;
}

ROW("a destroy that is cancelled while it waits can be repeated")
{
	struct ibv_async_event events[EVENTS];
	struct end a, b;
	struct destroyer destroyer = { .end = &a };
	pthread_t thread;
	void *result;

	ends_open(&a, &b);
	get_both_halves(&a, events);
	must(!pthread_create(&thread, NULL, destroy_cancelled, &destroyer));
	must(!pthread_join(thread, &result));
	must(result == PTHREAD_CANCELED && !destroyer.done);
	for (int i = 0; i < EVENTS; i++)
		ibv_ack_async_event(&events[i]);
	ends_close(&a, &b);
}

struct handler {
	struct end *end;
	int got, acked;
};

static void *handle_all(void *arg)
{
	struct handler *handler = arg;
	struct ibv_async_event event;

	for (;;) {
		must_eq(ibv_get_async_event(handler->end->context, &event), 0);
		if (event.event_type == IBV_EVENT_PORT_ACTIVE)
			return NULL;
		__atomic_add_fetch(&handler->got, 1, __ATOMIC_SEQ_CST);
		ibv_ack_async_event(&event);
		__atomic_add_fetch(&handler->acked, 1, __ATOMIC_SEQ_CST);
	}
}

/* Destroys the QP. Returns whether the handler read or acknowledged an event meanwhile. */
static bool destroyed_beside(struct handler *handler)
{
	int acked = __atomic_load_n(&handler->acked, __ATOMIC_SEQ_CST);

	must_eq(ibv_destroy_qp(handler->end->qp), 0);
	handler->end->qp = NULL;
	return __atomic_load_n(&handler->got, __ATOMIC_SEQ_CST) != acked;
}

ROW("a QP is destroyed while another thread reads its access error")
{
	struct end a, b;
	struct handler handler = { .end = &b };
	int overlaps = 0;
	pthread_t thread;
	struct ibv_wc wc;

	ends_open(&a, &b);
	must(!pthread_create(&thread, NULL, handle_all, &handler));
	for (int round = 0; round < 30 || (!overlaps && round < 3000); round++) {
		ends_connect(&a, &b);
		end_post_wrong_key(&a, IBV_WR_RDMA_WRITE);
		while (!ibv_poll_cq(a.cq, 1, &wc))	/* the row's time limit ends this */
			;
		must_eq(wc.status, IBV_WC_REM_ACCESS_ERR);
		overlaps += destroyed_beside(&handler);
		ends_renew(&b, &a);
	}
	must(overlaps > 0);
	inject_event(1, "port_active", 1);
	must(!pthread_join(thread, NULL));
	ends_close(&a, &b);
}
