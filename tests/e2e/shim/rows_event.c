/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 1.4 and 5.8: async events, flagged when they are a receive QP's. */

#define GROUP "event"

#include "row.h"
#include "wire.h"

#define COMM_EST_FLAGGED (IBV_EVENT_COMM_EST | 0x80000000u)

/* The first packet on a receive QP in RTR raises COMM_EST. */
static void establish(const struct wire *wire)
{
	wire_deliver(wire, wire->receiver, wire->srq_num, 8, 1, 0);
}

static void expect_comm_est(struct actor *a, uint32_t qpn)
{
	struct result r = get_event(a, 0, 0);

	expect_ok(r);
	expect_eq(r.event_type, COMM_EST_FLAGGED);
	expect_eq(r.number, qpn);
	expect_facts(r, UPPER_HALF_ZERO);
}

static void expect_no_event(struct actor *a)
{
	expect(get_event(a, 0, DRAIN), EAGAIN);
}

ROW("5.8", "a receive QP's event reaches its creator, flagged, by number")
{
	struct wire wire = wire_new();

	establish(&wire);
	expect_comm_est(wire.receiver, wire.rcv_qpn);
	expect_ok(ack_event(wire.receiver, 0));
	expect_no_event(wire.receiver);
}

ROW_NEEDING("5.8", "a receive QP's event reaches every registrant, once", NEEDS_OPENED_EVENTS)
{
	struct wire wire = wire_new();
	uint32_t ignored;
	struct actor *b = wire_join(&ignored), *c = wire_join(&ignored);

	expect_ok(reg(b, D, wire.rcv_qpn));
	establish(&wire);
	expect_comm_est(wire.receiver, wire.rcv_qpn);
	expect_comm_est(b, wire.rcv_qpn);
	expect_no_event(wire.receiver);
	expect_no_event(b);
	expect_no_event(c);	/* has the domain, is not registered */
}

ROW_NEEDING("5.8", "to a process registered twice, the event comes once", NEEDS_OPENED_EVENTS)
{
	struct wire wire = wire_new();
	uint32_t ignored;
	struct actor *b = wire_join(&ignored);

	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(reg(wire.receiver, D, wire.rcv_qpn));
	establish(&wire);
	expect_comm_est(b, wire.rcv_qpn);
	expect_comm_est(wire.receiver, wire.rcv_qpn);
	expect_no_event(b);
	expect_no_event(wire.receiver);
}

ROW("5.8", "the event does not reach a former registrant")
{
	struct wire wire = wire_new();
	uint32_t ignored;
	struct actor *b = wire_join(&ignored);

	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(unreg(b, D, wire.rcv_qpn));
	establish(&wire);
	expect_comm_est(wire.receiver, wire.rcv_qpn);
	expect_no_event(b);
}

ROW("1.4", "each ack of an event leaves the event and errno unchanged, without the flag too")
{
	struct wire wire = wire_new();

	establish(&wire);
	expect_comm_est(wire.receiver, wire.rcv_qpn);
	expect_ok(ack_event(wire.receiver, 0));
	expect_ok(ack_event(wire.receiver, ACK_WITHOUT_FLAG));
	expect_ok(ack_event(wire.receiver, ACK_WITHOUT_FLAG));
	expect_ok(ack_event(wire.receiver, 0));
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
}

ROW("1.4", "unreg does not wait for an ack")
{
	struct wire wire = wire_new();

	establish(&wire);
	expect_comm_est(wire.receiver, wire.rcv_qpn);
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
	expect(query_rcv_qp(wire.receiver, D, wire.rcv_qpn, 0), EINVAL);
}

ROW("1.4", "an ack after unreg leaves the event and errno unchanged")
{
	struct wire wire = wire_new();

	establish(&wire);
	expect_comm_est(wire.receiver, wire.rcv_qpn);
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
	expect_ok(ack_event(wire.receiver, 0));
	expect_ok(ack_event(wire.receiver, ACK_WITHOUT_FLAG));
}

ROW("1.4", "an unread event blocks neither unreg nor destroy nor close")
{
	struct wire wire = wire_new();

	establish(&wire);
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
	expect_ok(destroy_srq(wire.receiver, 0));
	expect_ok(close_domain(wire.receiver, D));
	actor_end(wire.receiver, BY_CLOSE_DEVICE);
}

ROW_CALL("1.4", "no event on a non-blocking fd is -1 and EAGAIN", expect_no_event(actor_open(0)))

/* Open MPI finds its SRQ by the pointer that ibv_create_xrc_srq gave it. */
ROW("1.4", "an XRC SRQ's event carries the pointer the program has")
{
	struct wire wire = wire_new();
	int limit_events = 0;
	struct result r;

	expect_ret(post_recv(wire.receiver, 0), 0);
	expect_ret(modify_srq(wire.receiver, 0, 2), 0);
	establish(&wire);
	for (int i = 0; i < 2; i++) {	/* the other is COMM_EST */
		r = get_event(wire.receiver, 0, 0);
		expect_ok(r);
		if (r.event_type == IBV_EVENT_SRQ_LIMIT_REACHED) {
			expect_facts(r, SRQ_MATCHES);
			limit_events++;
		} else {
			expect_eq(r.event_type, COMM_EST_FLAGGED);
		}
		expect_ok(ack_event(wire.receiver, 0));
	}
	expect_eq(limit_events, 1);
	expect_no_event(wire.receiver);
	r = query_srq(wire.receiver, 0);
	expect_ret(r, 0);
	expect_eq(r.srq_attr.srq_limit, 0);	/* an armed limit fires once */
	/* Without the counted ack, this call would never return. */
	expect_ok(destroy_srq(wire.receiver, 0));
}

ROW("1.4", "an RC QP's event is not flagged")
{
	struct actor *a = actor_open(0), *b = actor_open(1);
	struct result a_qp = create_plain_qp(a, 1, IBV_QPT_RC),
		      b_qp = create_plain_qp(b, 1, IBV_QPT_RC), r;

	expect_ret(a_qp, 0);
	expect_ret(b_qp, 0);
	/* so that the library watches this context */
	expect_ok(open_domain(b, D, row_file(0), O_CREAT));
	expect_ok(create_rcv_qp(b, D));
	bring_qp(a, 1, IBV_QPS_RTS, b, b_qp.number);
	bring_qp(b, 1, IBV_QPS_RTR, a, a_qp.number);
	expect_ret(post_recv_qp(b, 1), 0);
	expect_ret(post_send(a, 1, 0, 0, 1), 0);
	r = get_event(b, 1, 0);
	expect_ret(r, 0);
	expect_eq(r.event_type, IBV_EVENT_COMM_EST);
	expect_facts(r, QP_MATCHES);
	expect_ok(ack_event(b, 0));
	expect_ret(destroy_qp(b, 1), 0);
}
