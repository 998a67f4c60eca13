/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events of a two-way QP name the ibv_qp that the program has, whichever half raised them. */

#define GROUP "event"

#include <unistd.h>

#include "pair.h"

static struct ibv_async_event next_event(struct side *side, enum ibv_event_type type)
{
	struct ibv_async_event event = side_event(side);

	must_eq(event.event_type, type);
	must(event.element.qp == side->qp);
	must_eq(event.element.qp->qp_num, side->own.qp_num);
	return event;
}

static const struct {
	const char *name;
	enum ibv_event_type type;
	enum ibv_qp_state state;	/* that the event leaves */
} kinds[] = {
	{ "comm_est", IBV_EVENT_COMM_EST, IBV_QPS_RTS },
	{ "path_mig_err", IBV_EVENT_PATH_MIG_ERR, IBV_QPS_RTS },
	{ "last_wqe_reached", IBV_EVENT_QP_LAST_WQE_REACHED, IBV_QPS_RTS },
	{ "qp_fatal", IBV_EVENT_QP_FATAL, IBV_QPS_ERR },
	{ "qp_req_err", IBV_EVENT_QP_REQ_ERR, IBV_QPS_ERR },
	{ "qp_access_err", IBV_EVENT_QP_ACCESS_ERR, IBV_QPS_ERR },
};

ROW("each event of the receiving half names the QP; after a fatal one the QP is in ERR")
{
	struct ibv_async_event event;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		connect_sides();
		inject_event(0, kinds[i].name, hidden_target_number(a.own.qp_num));
		event = next_event(&a, kinds[i].type);
		must_eq(side_state(&a), kinds[i].state);
		ibv_ack_async_event(&event);
		side_no_event(&a, 20);
		must_eq(side_modify(&a, IBV_QPS_RESET), 0);
		must_eq(side_modify(&b, IBV_QPS_RESET), 0);
	}
}

/* A query would take the other half to ERR, so the row makes none. */
ROW("after a fatal event of either half, a QP acknowledges no message and flushes sends")
{
	struct ibv_async_event event;

	for (size_t i = 0; i < 2 * sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i / 2].state != IBV_QPS_ERR)
			continue;
		connect_sides();
		side_post_recv(&a, 1, 0, 4096);
		inject_event(0, kinds[i / 2].name,
			     i % 2 ? a.own.qp_num : hidden_target_number(a.own.qp_num));
		event = next_event(&a, kinds[i / 2].type);
		must_exceed_retries(&b);
		must_flush(&a);
		side_no_completion(&a);
		ibv_ack_async_event(&event);
		renew_qps();
	}
}

#define EVENTS 6

/* Raises and reads events of both halves alternately. */
static void get_both_halves(struct ibv_async_event *events)
{
	for (int i = 0; i < EVENTS; i++) {
		inject_event(0, "path_mig",
			     i % 2 ? a.own.qp_num : hidden_target_number(a.own.qp_num));
		events[i] = next_event(&a, IBV_EVENT_PATH_MIG);
	}
}

static void *destroy(void *done)
{
	must_eq(ibv_destroy_qp(a.qp), 0);
	*(volatile bool *)done = true;
	return NULL;
}

/* Contract 1.3: until the acknowledgement a handler may use the QP. */
ROW("destroy waits for the ack of every event of both halves, in another order than read")
{
	static const int order[EVENTS] = { 1, 3, 5, 4, 0, 2 };	/* one half after the other */
	struct ibv_async_event events[EVENTS];
	volatile bool done = false;
	pthread_t thread;

	get_both_halves(events);
	thread = start_thread(destroy, (void *)&done);
	for (int i = 0; i < EVENTS; i++) {
		usleep(20000);		/* a wrong return would come within this time */
		must(!done);
		must_eq(events[order[i]].element.qp->qp_num, a.own.qp_num);
		ibv_ack_async_event(&events[order[i]]);
	}
	join_thread(thread);
	a.qp = NULL;
}
