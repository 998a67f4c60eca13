/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.6 and 5.7 where there is no ibv_open_qp: the process that made the QP is the only one to have it. What
 * cannot be kept when that process ends is an error for the others, never a hang and never silence.
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

/* The owner has unregistered and closed: what it still carries is the others', until it ends. */
static void owner_closes_and_carries(void)
{
	struct actor *a = with_domain(), *b = with_domain();
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT, b, 0);
	uint32_t qpn = made_by(a);
	struct result r;

	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
	expect_ok(modify_rcv_qp(b, D, qpn, &attr, MASK_INIT));
	r = query_rcv_qp(b, D, qpn, 0);
	expect_ok(r);
	expect_eq(r.attr.qp_state, IBV_QPS_INIT);
	expect_ok(unreg(b, D, qpn));
	expect(query_rcv_qp(b, D, qpn, 0), EINVAL);
	expect_ok(close_domain(b, D));
}

/* What it carries is its own once more. */
static void owner_comes_back(void)
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = made_by(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect_ok(reg(a, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect_ok(query_rcv_qp(a, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
	expect(query_rcv_qp(a, D, qpn, 0), EINVAL);
	expect_ok(close_domain(a, D));
}

/* Until the device gives the number out again: the test has it have few. */
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

/* A registration with a QP that is gone is none with the next QP of that number, and does not disturb it. */
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

/* The number is given to one who is still registered with the QP that is gone: now it is with its own, once. */
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
	{ "5.6", "the owner closes its domain: the QP is carried on", owner_closes_and_carries },
	{ "5.6", "the owner unregisters, registers again and is the last", owner_comes_back },
	{ "5.7", "the owner is killed, and its number given to another QP", number_is_given_out_again },
	{ "5.7", "the owner is killed, and its number given to a registrant's QP", number_is_given_to_a_registrant },
};

GROUP(owner);
