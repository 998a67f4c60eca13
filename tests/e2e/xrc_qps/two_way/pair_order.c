/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Every allowed and every forbidden transition, and what a failed half does to the QP (contract
 * 5.3, 5.9).
 */

#define GROUP "order"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <harness/emulated.h>
#include "pair.h"

/* Brings the QP from RESET through the states in between. */
static void bring_to(enum ibv_qp_state state)
{
	if (state == IBV_QPS_RESET)
		return;
	side_bring(&a, state == IBV_QPS_SQD || state == IBV_QPS_ERR ? IBV_QPS_RTS : state);
	if (state == IBV_QPS_SQD || state == IBV_QPS_ERR)
		must_eq(side_modify_state(&a, state), 0);
	must_eq(side_state(&a), state);
}

static void reset_both(void)
{
	must_eq(side_modify_state(&a, IBV_QPS_RESET), 0);
	must_eq(side_modify_state(&b, IBV_QPS_RESET), 0);
}

static void still_connects(void)
{
	reset_both();
	connect_sides();
	both_ways();
	reset_both();
}

static const enum ibv_qp_state after_reset[] = { IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
						 IBV_QPS_SQD, IBV_QPS_ERR };

#define AFTER_RESET (sizeof(after_reset) / sizeof(after_reset[0]))

ROW("a QP goes from each state to RESET and to ERR, and connects again")
{
	for (size_t i = 0; i < 2 * AFTER_RESET; i++) {
		enum ibv_qp_state from = after_reset[i / 2];
		enum ibv_qp_state to = i % 2 ? IBV_QPS_ERR : IBV_QPS_RESET;

		if (from == IBV_QPS_SQD && !emulated_drains())
			continue;
		bring_to(from);
		must_eq(side_modify_state(&a, to), 0);
		must_eq(side_state(&a), to);
		still_connects();
	}
}

/*
 * side_modify() has the mask of the usual transition to the second state. OFED had RTS to RTS, and
 * refused it with that mask, which is of RTR to RTS.
 */
static const struct {
	enum ibv_qp_state from, to;
} forbidden[] = {
	{ IBV_QPS_RESET, IBV_QPS_RTR }, { IBV_QPS_RESET, IBV_QPS_RTS },
	{ IBV_QPS_RESET, IBV_QPS_SQD }, { IBV_QPS_RESET, IBV_QPS_ERR },
	{ IBV_QPS_INIT, IBV_QPS_RTS }, { IBV_QPS_INIT, IBV_QPS_SQD }, { IBV_QPS_RTR, IBV_QPS_INIT },
	{ IBV_QPS_RTR, IBV_QPS_RTR }, { IBV_QPS_RTR, IBV_QPS_SQD }, { IBV_QPS_RTS, IBV_QPS_INIT },
	{ IBV_QPS_RTS, IBV_QPS_RTR }, { IBV_QPS_RTS, IBV_QPS_RTS },
	{ IBV_QPS_SQD, IBV_QPS_INIT }, { IBV_QPS_SQD, IBV_QPS_RTR },
	{ IBV_QPS_ERR, IBV_QPS_INIT }, { IBV_QPS_ERR, IBV_QPS_RTR }, { IBV_QPS_ERR, IBV_QPS_RTS },
	{ IBV_QPS_ERR, IBV_QPS_SQD },
};

/* Takes the QP on to RTS without RESET. A half in another state than @from would refuse that. */
static void goes_on(enum ibv_qp_state from)
{
	if (from == IBV_QPS_ERR) {
		still_connects();
		return;
	}
	if (from == IBV_QPS_SQD)
		must_eq(side_modify_state(&a, IBV_QPS_RTS), 0);
	for (enum ibv_qp_state step = from + 1; step <= IBV_QPS_RTS; step++)
		must_eq(side_modify(&a, step), 0);
	side_bring(&b, IBV_QPS_RTS);
	both_ways();
	reset_both();
}

ROW("a transition that OFED refused is EINVAL and moves neither half")
{
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		if (forbidden[i].from == IBV_QPS_SQD && !emulated_drains())
			continue;
		bring_to(forbidden[i].from);
		errno = 0;
		must_eq(side_modify(&a, forbidden[i].to), EINVAL);
		must_eq(errno, EINVAL);
		must_eq(side_state(&a), forbidden[i].from);
		goes_on(forbidden[i].from);
	}
}

ROW("INIT to INIT changes the attributes of both halves")
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .qp_access_flags = 0 };
	struct ibv_qp_init_attr init_attr;

	bring_to(IBV_QPS_INIT);
	must_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), 0);
	must_eq(ibv_query_qp(a.qp, &attr, 0, &init_attr), 0);
	must_eq(attr.qp_state, IBV_QPS_INIT);
	must_eq(attr.qp_access_flags, 0);
	must_eq(side_modify(&a, IBV_QPS_RTR), 0);
	must_eq(side_modify(&a, IBV_QPS_RTS), 0);
	side_bring(&b, IBV_QPS_RTS);
	both_ways();
}

/* ---- SQD ---- */

static int modify_to_sqd_with_event(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1 };

	return ibv_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

ROW("RTS to SQD is EINVAL on mlx5, and the QP stays in RTS")
{
	if (emulated_drains())
		row_skip("this adapter has SQD");
	connect_sides();
	must_eq(modify_to_sqd_with_event(), EINVAL);
	must_eq(side_modify_state(&a, IBV_QPS_SQD), EINVAL);
	must_eq(side_state(&a), IBV_QPS_RTS);
	both_ways();
}

static void change_both_halves_in_sqd(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .timeout = 12, .min_rnr_timer = 9 };

	must_eq(ibv_modify_qp(a.qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_MIN_RNR_TIMER),
		0);
}

ROW("in SQD on mlx4 a QP raises one event and receives; its sends wait until RTS")
{
	struct ibv_async_event event;
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	if (!emulated_drains())
		row_skip("this adapter has no SQD");
	connect_sides();
	one_message(&a, &b);
	must_eq(modify_to_sqd_with_event(), 0);
	must_eq(side_state(&a), IBV_QPS_SQD);
	event = side_event(&a);
	must_eq(event.event_type, IBV_EVENT_SQ_DRAINED);
	must(event.element.qp == a.qp);
	ibv_ack_async_event(&event);
	side_no_event(&a, 20);
	side_post_recv(&b, 1, 4096, 4096);
	side_send(&a, IBV_WR_SEND, 0, 100);
	side_no_completion(&a);
	side_no_completion(&b);
	one_message(&b, &a);
	change_both_halves_in_sqd();
	must_eq(side_modify_state(&a, IBV_QPS_RTS), 0);
	completes_with(&a, IBV_WC_SUCCESS);
	must_eq(side_poll(&b).wr_id, 1);
	must_eq(ibv_query_qp(a.qp, &attr, 0, &init_attr), 0);
	must_eq(attr.timeout, 12);
	must_eq(attr.min_rnr_timer, 9);
}

/* ---- a half in ERR ---- */

/*
 * The receiving half of @b has failed; @b has called no verb since, so the library does not know of
 * it.
 */
static void fail_receiving_half(void)
{
	connect_sides();
	side_post_wrong_key(&a, IBV_WR_RDMA_WRITE);
	completes_with(&a, IBV_WC_REM_ACCESS_ERR);
}

ROW("a query of a QP whose receiving half has failed takes the sending half to ERR")
{
	fail_receiving_half();
	must_eq(side_state(&b), IBV_QPS_ERR);
	must_flush(&b);
}

ROW("a modify of a QP whose receiving half has failed is EINVAL, and takes the QP to ERR")
{
	fail_receiving_half();
	must_eq(side_modify_state(&b, IBV_QPS_SQD), EINVAL);
	must_flush(&b);
	must_eq(side_state(&b), IBV_QPS_ERR);
	still_connects();
}

ROW("a QP whose receiving half has failed can be destroyed before its event is read")
{
	fail_receiving_half();
	side_destroy_qp(&b);
	side_no_event(&b, 20);
	side_create_qp(&b, SIDE_DEPTH);
	meet();
	must_eq(side_modify_state(&a, IBV_QPS_RESET), 0);
	/* Nothing that the old QP had posted completes now. */
	side_no_completion(&b);
	connect_sides();
	both_ways();
}

static int asked;

/* The library calls this one. The C library's has a lock of the loader meanwhile. */
__attribute__((visibility("default"))) int dladdr(const void *address, Dl_info *info)
{
	int (*next)(const void *, Dl_info *) =
		(int (*)(const void *, Dl_info *))dlsym(RTLD_NEXT, "dladdr");

	asked++;
	return next(address, info);
}

/* A child that is forked meanwhile would never get the loader's lock. */
ROW("no XRC QP but the first calls dladdr()")
{
	must(asked);
	asked = 0;
	renew_qps();
	must_eq(asked, 0);
}
