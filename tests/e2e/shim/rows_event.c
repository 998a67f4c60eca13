/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 1.4 and 5.8: async events, flagged when they are a receive QP's. */

#include <string.h>

#include "row.h"
#include "wire.h"

#define COMM_EST_FLAGGED (IBV_EVENT_COMM_EST | 0x80000000u)

/* The first packet on a receive QP in RTR raises COMM_EST. */
static void establish(const struct wire *wire)
{
	expect_ret(post_recv(wire->receiver, 0), 0);
	wire_send(wire, wire->srq_num, 8, 1);
}

static void comm_est_at(struct actor *who, uint32_t qpn)
{
	struct result r = get_event(who, 0, 0);

	expect_ok(r);
	expect_eq(r.event_type, COMM_EST_FLAGGED);
	expect_eq(r.number, qpn);
	expect_facts(r, UPPER_HALF_ZERO);
}

static void nothing_more_at(struct actor *who)
{
	expect(get_event(who, 0, DRAIN), EAGAIN);
}

static void to_the_creator(void)
{
	struct wire wire = wire_new();

	establish(&wire);
	comm_est_at(wire.receiver, wire.rcv_qpn);
	expect_ret(ack_event(wire.receiver, 0), 0);
	nothing_more_at(wire.receiver);
}

static void text_of_it(void)
{
	struct wire wire = wire_new();
	struct result r;

	establish(&wire);
	r = get_event(wire.receiver, 0, 0);
	expect_ok(r);
	expect_eq(r.event_type, COMM_EST_FLAGGED);
	expect_that(!strcmp(r.text, "unknown"));
}

static void to_every_registrant(void)
{
	struct wire wire = wire_new();
	uint32_t ignored;
	struct actor *b = wire_join(&ignored), *c = wire_join(&ignored);

	expect_ok(reg(b, D, wire.rcv_qpn));
	establish(&wire);
	comm_est_at(wire.receiver, wire.rcv_qpn);
	comm_est_at(b, wire.rcv_qpn);
	nothing_more_at(wire.receiver);
	nothing_more_at(b);
	nothing_more_at(c);	/* has the domain, is not registered */
}

static void registered_twice(void)
{
	struct wire wire = wire_new();
	uint32_t ignored;
	struct actor *b = wire_join(&ignored);

	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(reg(wire.receiver, D, wire.rcv_qpn));
	establish(&wire);
	comm_est_at(b, wire.rcv_qpn);
	comm_est_at(wire.receiver, wire.rcv_qpn);
	nothing_more_at(b);
	nothing_more_at(wire.receiver);
}

static void not_after_unreg(void)
{
	struct wire wire = wire_new();
	uint32_t ignored;
	struct actor *b = wire_join(&ignored);

	expect_ok(reg(b, D, wire.rcv_qpn));
	expect_ok(unreg(b, D, wire.rcv_qpn));
	establish(&wire);
	comm_est_at(wire.receiver, wire.rcv_qpn);
	nothing_more_at(b);
}

static void acked_in_every_form(void)
{
	struct wire wire = wire_new();

	establish(&wire);
	comm_est_at(wire.receiver, wire.rcv_qpn);
	expect_ret(ack_event(wire.receiver, 0), 0);
	expect_ret(ack_event(wire.receiver, ACK_WITHOUT_FLAG), 0);
	expect_ret(ack_event(wire.receiver, ACK_WITHOUT_FLAG), 0);
	expect_ret(ack_event(wire.receiver, 0), 0);
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
}

static void never_acked(void)
{
	struct wire wire = wire_new();

	establish(&wire);
	comm_est_at(wire.receiver, wire.rcv_qpn);
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
	expect(query_rcv_qp(wire.receiver, D, wire.rcv_qpn, 0), EINVAL);
}

static void acked_after_unreg(void)
{
	struct wire wire = wire_new();

	establish(&wire);
	comm_est_at(wire.receiver, wire.rcv_qpn);
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
	expect_ret(ack_event(wire.receiver, 0), 0);
	expect_ret(ack_event(wire.receiver, ACK_WITHOUT_FLAG), 0);
}

static void never_read(void)
{
	struct wire wire = wire_new();

	establish(&wire);
	expect_ok(unreg(wire.receiver, D, wire.rcv_qpn));
	expect_ok(destroy_srq(wire.receiver, 0));
	expect_ok(close_domain(wire.receiver, D));
	actor_end(wire.receiver, BY_CLOSE_DEVICE);
}

static void none_on_a_non_blocking_fd(void)
{
	nothing_more_at(actor_open(0));
}

/* Open MPI finds its SRQ by the pointer that ibv_create_xrc_srq gave it. */
static void srq_limit(void)
{
	struct wire wire = wire_new();
	struct result r;

	expect_ret(post_recv(wire.receiver, 0), 0);
	expect_ret(modify_srq(wire.receiver, 0, 2), 0);
	establish(&wire);
	for (int i = 0; i < 2; i++) {	/* the other is COMM_EST */
		r = get_event(wire.receiver, 0, 0);
		expect_ok(r);
		if (r.event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
			expect_facts(r, SRQ_MATCHES);
		else
			expect_eq(r.event_type, COMM_EST_FLAGGED);
		expect_ret(ack_event(wire.receiver, 0), 0);
	}
	nothing_more_at(wire.receiver);
	r = query_srq(wire.receiver, 0);
	expect_ret(r, 0);
	expect_eq(r.srq_attr.srq_limit, 0);	/* an armed limit fires once */
	/* would wait if the ack had not been counted */
	expect_ok(destroy_srq(wire.receiver, 0));
}

static void rc_qp_is_not_flagged(void)
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
	expect_ret(ack_event(b, 0), 0);
	expect_ret(destroy_qp(b, 1), 0);
}

static const struct row rows[] = {
	{ "5.8", "a receive QP's event reaches its creator, flagged, by number", to_the_creator },
	{ "1.4", "ibv_event_type_str calls a flagged event unknown", text_of_it },
	{ "5.8", "it reaches every registrant, once", to_every_registrant,
	  NEEDS_OPENED_EVENTS },
	{ "5.8", "registered twice, it comes once", registered_twice, NEEDS_OPENED_EVENTS },
	{ "5.8", "it does not reach a former registrant", not_after_unreg },
	{ "1.4", "acking it is harmless, flag on or off, any number of times",
	  acked_in_every_form },
	{ "1.4", "unreg does not wait for an ack", never_acked },
	{ "1.4", "acking it after unreg is harmless", acked_after_unreg },
	{ "1.4", "never read, it holds up nothing", never_read },
	{ "1.4", "no event on a non-blocking fd is -1 and EAGAIN", none_on_a_non_blocking_fd },
	{ "1.4", "an XRC SRQ's event carries the pointer the program has", srq_limit },
	{ "1.4", "an RC QP's event is not flagged", rc_qp_is_not_flagged },
};

GROUP(event);
