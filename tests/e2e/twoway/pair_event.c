/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events of a two-way QP name the ibv_qp that the program has, whichever half raised them. */

#include <pthread.h>
#include <unistd.h>

#include "pair.h"

static void comm_est(void)
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

static void of_every_kind(void)
{
	struct ibv_async_event event;
	struct end a, b;

	ends_open(&a, &b);
	for (size_t i = 0; i < KINDS; i++) {
		ends_connect(&a, &b);
		inject(0, kinds[i].name, hidden_half(a.own.qp_num));
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

/* Raises and reads events of both halves by turns. */
static void get_both_halves(struct end *end, struct ibv_async_event *events)
{
	for (int i = 0; i < EVENTS; i++) {
		inject(0, "path_mig", i % 2 ? end->own.qp_num : hidden_half(end->own.qp_num));
		events[i] = end_event(end);
		must_eq(events[i].event_type, IBV_EVENT_PATH_MIG);
		must(events[i].element.qp == end->qp);
	}
}

static void acked_in_order(const int *order)
{
	struct ibv_async_event events[EVENTS];
	struct end a, b;

	ends_open(&a, &b);
	get_both_halves(&a, events);
	for (int i = 0; i < EVENTS; i++)
		ibv_ack_async_event(&events[order[i]]);
	ends_close(&a, &b);
}

static void acked_forwards(void)
{
	acked_in_order((const int[EVENTS]){ 0, 1, 2, 3, 4, 5 });
}

static void acked_backwards(void)
{
	acked_in_order((const int[EVENTS]){ 5, 4, 3, 2, 1, 0 });
}

static void acked_half_by_half(void)
{
	acked_in_order((const int[EVENTS]){ 1, 3, 5, 4, 0, 2 });
}

static struct ibv_async_event of_the_hidden_half(struct end *end)
{
	struct ibv_async_event event;

	inject(0, "path_mig", hidden_half(end->own.qp_num));
	event = end_event(end);
	must(event.element.qp == end->qp);
	return event;
}

static void never_acked(void)
{
	struct end a, b;
	double start;

	ends_open(&a, &b);
	of_the_hidden_half(&a);
	start = seconds();
	end_close(&a);
	must(seconds() - start < 20);
	end_close(&b);
}

static void never_read(void)
{
	struct end a, b;

	ends_open(&a, &b);
	inject(0, "path_mig", hidden_half(a.own.qp_num));
	inject(0, "path_mig", a.own.qp_num);
	ends_close(&a, &b);
}

/* A handler acknowledges an event after its QP was destroyed: the memory may be another QP's by then, whose count must not change. */
static void acked_after_destroy(void)
{
	struct ibv_async_event event;
	struct ibv_qp *others[8];
	struct end a, b;

	ends_open(&a, &b);
	event = of_the_hidden_half(&a);
	must_eq(ibv_destroy_qp(a.qp), 0);
	ibv_ack_async_event(&event);
	end_create_qp(&a, 4);
	event = of_the_hidden_half(&a);
	must_eq(ibv_destroy_qp(a.qp), 0);
	for (int i = 0; i < 8; i++) {
		end_create_qp(&a, 4);
		others[i] = a.qp;
	}
	ibv_ack_async_event(&event);
	for (int i = 0; i < 8; i++) {
		/* Their own acknowledgements are still counted right, so destroy returns. */
		inject(0, "path_mig", others[i]->qp_num);
		event = end_event(&a);
		must(event.element.qp == others[i]);
		ibv_ack_async_event(&event);
		must_eq(ibv_destroy_qp(others[i]), 0);
	}
	a.qp = NULL;
	ends_close(&a, &b);
}

#define HANDLING_US 20000
#define GIVEN_UP_S  0.4	/* a little less than the library waits for a handler that never acknowledges */

struct handler {
	struct end *end;
	volatile bool read, acked;
};

static void *handle_slowly(void *arg)
{
	struct handler *handler = arg;
	struct ibv_async_event event;
	double start;

	must_eq(ibv_get_async_event(handler->end->context, &event), 0);
	start = seconds();
	handler->read = true;
	usleep(HANDLING_US);
	if (seconds() - start < GIVEN_UP_S)
		must_eq(event.element.qp->qp_num, handler->end->own.qp_num);
	handler->acked = true;
	ibv_ack_async_event(&event);
	return NULL;
}

/* Returns false where a thread was held up so long that the library may have given the handler up. */
static bool destroy_while_it_is_handled(struct end *end)
{
	struct handler handler = { .end = end };
	pthread_t thread;
	double took;
	bool acked;

	must(!pthread_create(&thread, NULL, handle_slowly, &handler));
	inject(0, "path_mig", hidden_half(end->own.qp_num));
	while (!handler.read)
		usleep(500);
	took = seconds();
	must_eq(ibv_destroy_qp(end->qp), 0);
	acked = handler.acked;
	took = seconds() - took;
	must(!pthread_join(thread, NULL));
	must(acked || took >= GIVEN_UP_S);
	return acked;
}

/* Contract 1.3: destroy waits for the handler, which may still look at the QP. */
static void destroy_lets_the_handler_finish(void)
{
	struct end a, b;

	ends_open(&a, &b);
	for (int i = 0; !destroy_while_it_is_handled(&a); i++) {
		must(i < 10);
		end_create_qp(&a, 4);
	}
	a.qp = NULL;
	ends_close(&a, &b);
}

static void *handle_all(void *arg)
{
	struct end *end = arg;
	struct ibv_async_event event;

	for (;;) {
		if (ibv_get_async_event(end->context, &event))
			return NULL;
		if (event.event_type == IBV_EVENT_PORT_ACTIVE)
			return NULL;
		ibv_ack_async_event(&event);
	}
}

/* A handler thread sees access errors of QPs that the main thread is destroying. */
static void destroyed_while_an_event_comes(void)
{
	struct end a, b;
	pthread_t thread;

	ends_open(&a, &b);
	must(!pthread_create(&thread, NULL, handle_all, &b));
	for (int round = 0; round < 30; round++) {
		ends_connect(&a, &b);
		end_post_wrong_key(&a, IBV_WR_RDMA_WRITE);
		must_eq(end_poll(&a).status, IBV_WC_REM_ACCESS_ERR);
		ends_renew(&b, &a);
	}
	inject(1, "port_active", 1);
	must(!pthread_join(thread, NULL));
	ends_close(&a, &b);
}

static const struct row event_rows[] = {
	{ "COMM_EST of the receiving half", comm_est },
	{ "every kind of event of the receiving half, fatal ones with ERR", of_every_kind },
	{ "events of both halves acked in order", acked_forwards },
	{ "events of both halves acked backwards", acked_backwards },
	{ "events of both halves acked half by half", acked_half_by_half },
	{ "destroy does not hang without the ack", never_acked },
	{ "destroy does not hang with events unread", never_read },
	{ "an ack after destroy is harmless", acked_after_destroy },
	{ "destroy lets the handler finish with the QP", destroy_lets_the_handler_finish },
	{ "destroyed while an access error is handled", destroyed_while_an_event_comes },
};

GROUP(event);
