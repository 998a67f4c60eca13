/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 1.4 and 5.8: async events, flagged when they are a receive QP's. */

#define GROUP "event"

#include "row.h"

#define COMM_EST_FLAGGED (IBV_EVENT_COMM_EST | 0x80000000u)

/* The first packet on a receive QP in RTR raises COMM_EST. */
static void establish(const struct wire *wire)
{
	wire_deliver(wire, wire->receiver, wire->srq_num, 8, 1);
}

static void expect_comm_est(struct actor *a, uint32_t qpn)
{
	struct result r = get_event(a, 0, 0);

	expect_ok(r);
	must_eq(r.event_type, COMM_EST_FLAGGED);
	must_eq(r.number, qpn);
	must(r.upper_half_zero);
}

static void expect_no_event(struct actor *a)
{
	expect(get_event(a, 0, NOTHING), EAGAIN);
}

ROW_WIRE("5.8", "a receive QP's event reaches its creator, flagged, by number")
{
	establish(&wire);
	expect_comm_est(receiver, wire.rcv_qpn);
	expect_ok(ack_event(receiver));
	expect_no_event(receiver);
}

ROW_WIRE("5.8", "the event does not reach a former registrant")
{
	uint32_t ignored;
	struct actor *b = wire_join(&ignored);

	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(unreg(b, D, wire.rcv_qpn));
	establish(&wire);
	expect_comm_est(receiver, wire.rcv_qpn);
	expect_no_event(b);
}

ROW_WIRE("1.4", "each ack of an event leaves the event and errno unchanged")
{
	establish(&wire);
	expect_comm_est(receiver, wire.rcv_qpn);
	expect_ok(ack_event(receiver));
	expect_ok(ack_event(receiver));
	expect_ok(unreg(receiver, D, wire.rcv_qpn));
}

ROW_WIRE("1.4", "unreg does not wait for an ack, and an ack after it changes nothing")
{
	establish(&wire);
	expect_comm_est(receiver, wire.rcv_qpn);
	expect_ok(unreg(receiver, D, wire.rcv_qpn));
	expect(query_rcv_qp(receiver, D, wire.rcv_qpn, 0), EINVAL);
	expect_ok(ack_event(receiver));
}

ROW_WIRE("1.4", "an unread event blocks neither unreg nor destroy nor close")
{
	establish(&wire);
	expect_ok(unreg(receiver, D, wire.rcv_qpn));
	expect_ok(destroy_srq(receiver, 0));
	expect_ok(close_domain(receiver, D));
	actor_end(receiver, BY_CLOSE_DEVICE);
}

ROW_CALL("1.4", "no event on a non-blocking fd is -1 and EAGAIN", expect_no_event(actor_open(0)))

/* Open MPI finds its SRQ by the pointer that ibv_create_xrc_srq gave it. */
ROW_WIRE("1.4", "an XRC SRQ's event carries the pointer the program has")
{
	int limit_events = 0;
	struct result r;

	expect_ret(post_recv(receiver, 0, 0), 0);
	expect_ret(modify_srq(receiver, 0, 2), 0);
	establish(&wire);
	for (int i = 0; i < 2; i++) {	/* the other is COMM_EST */
		r = get_event(receiver, 0, 0);
		expect_ok(r);
		if (r.event_type != COMM_EST_FLAGGED) {
			must_eq(r.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
			must(r.srq_matches);
			limit_events++;
		}
		expect_ok(ack_event(receiver));
	}
	must_eq(limit_events, 1);
	expect_no_event(receiver);
	must_eq(query_srq(receiver, 0).srq_attr.srq_limit, 0);  /* an armed limit fires once */
	/* Without the counted ack, this call would never return. */
	expect_ok(destroy_srq(receiver, 0));
}

ROW("1.4", "an RC QP's event is not flagged")
{
	struct actor *a = actor_open(0), *b = actor_open(1);
	uint32_t a_qpn = number_of(create_rc_qp(a)), b_qpn = number_of(create_rc_qp(b));
	struct result r;

	/* b's context then has receive QPs, whose events are flagged */
	expect_ok(open_domain(b, D, FILE_A, O_CREAT));
	new_rcv_qp(b);
	bring(a, QP(1), IBV_QPS_RTS, b, b_qpn);
	bring(b, QP(1), IBV_QPS_RTR, a, a_qpn);
	expect_ret(ask(b, post_recv, .slot = 1, .srq = NIL), 0);
	expect_ret(post_send(a, 1, 0, 0, 1), 0);
	r = get_event(b, 1, 0);
	expect_ret(r, 0);
	must_eq(r.event_type, IBV_EVENT_COMM_EST);
	must(r.qp_matches);
	expect_ok(ack_event(b));
	expect_ret(destroy_qp(b, 1), 0);
}

/* Linux 5.8 and later deliver no events to handles from ibv_open_qp (contract 5.10). */
#undef GROUP
#define GROUP "opened_event"

ROW_WIRE("5.8", "a receive QP's event reaches every registrant, once")
{
	uint32_t ignored;
	struct actor *b = wire_join(&ignored), *c = wire_join(&ignored);

	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(reg(receiver, D, wire.rcv_qpn));
	establish(&wire);
	expect_comm_est(receiver, wire.rcv_qpn);
	expect_comm_est(b, wire.rcv_qpn);
	expect_no_event(receiver);
	expect_no_event(b);
	expect_no_event(c);	/* has the domain, is not registered */
}
