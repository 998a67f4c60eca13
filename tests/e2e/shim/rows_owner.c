/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.6 and 5.7 where there is no ibv_open_qp: the process that made the QP is the only one to have it. What
 * cannot be kept when that process ends is an error for the others, never a hang and never silence.
 */

#include "row.h"

static struct actor *with_domain(void)
{
	struct actor *a = actor_open(0);

	expect_ok(open_domain(a, D, row_file(0), O_CREAT));
	return a;
}

static uint32_t made_by(struct actor *a)
{
	struct result created = create_rcv_qp(a, D);

	expect_ok(created);
	return created.number;
}

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

static const struct row rows[] = {
	{ "5.7", "the owner exits: EINVAL for the others, who can tidy up", owner_exits },
	{ "5.7", "the owner is killed: EINVAL for the others, who can tidy up", owner_is_killed },
	{ "5.6", "the owner closes its domain: the QP is carried on", owner_closes_and_carries },
};

GROUP(owner);
