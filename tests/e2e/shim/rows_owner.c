/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.6 and 5.7 without ibv_open_qp: only the process that created a QP, its owner, has a handle on it. When the owner
 * ends, so does the QP; the others get an error then, and never wait for ever.
 */

#include "row.h"

static void owner_ends(enum end how)
{
	struct actor *a = with_domain(), *b = with_domain(), *c = with_domain();
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT, b, 0);
	uint32_t qpn = made_by(a);

	expect_ok(reg(b, D, qpn));
	actor_end(a, how);
	expect_soon(query_rcv_qp(b, D, qpn, 0), EINVAL);
	expect(modify_rcv_qp(b, D, qpn, &attr, MASK_INIT), EINVAL);
	expect(reg(c, D, qpn), EINVAL);
	expect_ok(unreg(b, D, qpn));
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
}

static void owner_exits(void)
{
	owner_ends(BY_EXIT);
}

static void owner_is_killed(void)
{
	owner_ends(BY_KILL);
}

/* The owner has unregistered and closed its domain. It keeps the QP for the others, as long as it lives. */
static void owner_closes_and_keeps_it(void)
{
	struct actor *a = with_domain(), *b = with_domain();
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT, b, 0);
	uint32_t qpn = made_by(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
	expect_ok(modify_rcv_qp(b, D, qpn, &attr, MASK_INIT));
	expect_rcv_state(b, qpn, IBV_QPS_INIT);
	expect_ok(unreg(b, D, qpn));
	expect(query_rcv_qp(b, D, qpn, 0), EINVAL);
	expect_ok(close_domain(b, D));
}

/* Creates QPs until the device gives this number out again. The test limits it to few. */
static void make_again(struct actor *a, uint32_t wanted)
{
	uint32_t number = 0;

	for (int i = 0; i < 5000 && number != wanted; i++) {
		number = made_by(a);
		if (number != wanted)
			expect_ok(unreg(a, D, number));
	}
	expect_eq(number, wanted);
}

/* A registration with a QP that is gone does not count for the next QP of that number, and does not disturb it. */
static void number_is_given_out_again(void)
{
	struct actor *a = with_domain(), *b = with_domain(), *c = with_domain(), *d = with_domain();
	uint32_t qpn = made_by(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(reg(c, D, qpn));
	actor_end(a, BY_KILL);
	expect_soon(query_rcv_qp(b, D, qpn, 0), EINVAL);
	make_again(d, qpn);
	expect_ok(unreg(b, D, qpn));
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
	expect_ok(reg(c, D, qpn));
	expect_ok(unreg(d, D, qpn));
	expect_ok(query_rcv_qp(c, D, qpn, 0));
	expect_ok(unreg(c, D, qpn));
	expect(query_rcv_qp(c, D, qpn, 0), EINVAL);
}

/* A process that is still registered with the QP that is gone creates the next QP of that number: it is registered once, with that. */
static void number_is_given_to_a_registrant(void)
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = made_by(a);

	expect_ok(reg(b, D, qpn));
	actor_end(a, BY_KILL);
	expect_soon(query_rcv_qp(b, D, qpn, 0), EINVAL);
	make_again(b, qpn);
	expect_ok(unreg(b, D, qpn));
	expect(unreg(b, D, qpn), EINVAL);
	expect(query_rcv_qp(b, D, qpn, 0), EINVAL);
	expect_ok(close_domain(b, D));
}

static const struct row rows[] = {
	{ "5.7", "the owner exits: EINVAL for the others, who can tidy up", owner_exits },
	{ "5.7", "the owner is killed: EINVAL for the others, who can tidy up", owner_is_killed },
	{ "5.6", "the owner closes its domain, and the QP lives on", owner_closes_and_keeps_it },
	{ "5.7", "the owner is killed, and its number given to another QP", number_is_given_out_again },
	{ "5.7", "the owner is killed, and its number given to a registrant's QP", number_is_given_to_a_registrant },
};

GROUP(owner);
