/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 5.4: receive QPs. Any process that opened the domain may modify them. */

#define GROUP "rcv_qp"

#include "masks.h"
#include "row.h"

static struct result modify_init(struct actor *a, int dom, uint32_t qpn)
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT, a, 0);

	return modify_rcv_qp(a, dom, qpn, &attr, MASK_INIT);
}

ROW("5.4", "a receive QP can be created with garbage in init_attr, except in xrc_domain")
{
	expect_ok(create_rcv_qp_as(with_domain(), D, GARBAGE));
	expect_ok(create_rcv_qp_as(with_domain(), D, 0));
}

ROW("5.4", "a receive QP's number has at most 24 bits and is not 0 or 1")
{
	uint32_t qpn = new_rcv_qp(with_domain());

	expect_that(qpn > 1 && qpn <= 0xffffff);
}

ROW("5.4", "every receive QP has a number of its own")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t first = new_rcv_qp(a), second = new_rcv_qp(a), third = new_rcv_qp(b);

	expect_that(first != second && first != third && second != third);
}

ROW("5.9", "a receive QP takes RC's full masks to INIT, RTR and RTS")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	for (enum ibv_qp_state step = IBV_QPS_INIT; step <= IBV_QPS_RTS; step++) {
		struct ibv_qp_attr attr = attr_to(step, a, PEER_QPN);

		expect_ok(modify_rcv_qp(a, D, qpn, &attr, mask_to(step)));
		expect_rcv_state(a, qpn, step);
	}
}

ROW("5.4", "a modify needs no registration")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	bring_rcv_qp(b, qpn, IBV_QPS_RTR, a, PEER_QPN);
	expect_rcv_state(a, qpn, IBV_QPS_RTR);
}

ROW("5.4", "modifying does not register")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(modify_init(b, D, qpn));
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
}

ROW("5.4", "each transition may come from another process")
{
	struct actor *a = with_domain(), *b = with_domain(), *c = with_domain();
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR, a, PEER_QPN);
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(modify_init(b, D, qpn));
	expect_ok(reg(c, D, qpn));
	expect_ok(modify_rcv_qp(c, D, qpn, &attr, MASK_RTR));
	attr.qp_state = IBV_QPS_RTS;
	expect_ok(modify_rcv_qp(a, D, qpn, &attr, MASK_RTS));
	expect_rcv_state(b, qpn, IBV_QPS_RTS);
}

static void reset_by(struct actor *modifier, struct actor *creator, uint32_t qpn)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	bring_rcv_qp(creator, qpn, IBV_QPS_RTR, creator, PEER_QPN);
	expect_ok(modify_rcv_qp(modifier, D, qpn, &attr, IBV_QP_STATE));
	expect_rcv_state(creator, qpn, IBV_QPS_RESET);
}

/*
 * The library uses three kinds of handle: the creator's, a registration's, and a handle that it
 * opens for the call.
 */
ROW("5.4", "the creator, a registrant and any other process may reset a receive QP")
{
	struct actor *a = with_domain(), *b = with_domain(), *c = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(b, D, qpn));
	reset_by(a, a, qpn);
	reset_by(b, a, qpn);
	reset_by(c, a, qpn);
}

/*
 * Every process of a GASNet job modifies the QP to RTR. All but the first get EINVAL, and query the
 * state.
 */
ROW("5.5", "a repeated modify is EINVAL, and a query returns the state reached")
{
	struct actor *a = with_domain(), *b = with_domain();
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR, a, PEER_QPN);
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(modify_init(a, D, qpn));
	expect_ok(modify_rcv_qp(a, D, qpn, &attr, MASK_RTR));
	expect(modify_init(b, D, qpn), EINVAL);
	expect_rcv_state(b, qpn, IBV_QPS_RTR);
	expect(modify_rcv_qp(b, D, qpn, &attr, MASK_RTR), EINVAL);
	expect_rcv_state(b, qpn, IBV_QPS_RTR);
}

ROW("5.4", "modifying an unknown number is EINVAL")
{
	struct actor *a = with_domain();

	for (unsigned i = 0; i < UNKNOWN_QPNS; i++)
		expect(modify_init(a, D, unknown_qpns[i]), EINVAL);
}

ROW("5.4", "modifying an RC QP or an XRC QP by its number is EINVAL")
{
	struct actor *a = with_domain();
	struct result rc = create_plain_qp(a, 0, IBV_QPT_RC), xrc = create_qp(a, 1, D);

	expect_ret(rc, 0);
	expect_ok(xrc);
	expect(modify_init(a, D, rc.number), EINVAL);
	expect(modify_init(a, D, xrc.number), EINVAL);
}

ROW("5.4", "modifying through another domain is EINVAL")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(open_domain(a, 1, row_file(1), O_CREAT));
	expect_ok(open_private(a, 2, O_CREAT));
	expect_ok(open_elsewhere(a, 3, row_file(0), OTHER_DEVICE));
	for (int dom = 1; dom <= 3; dom++)
		expect(modify_init(a, dom, qpn), EINVAL);
	expect_ok(modify_init(a, D, qpn));
}

ROW("5.4", "modifying through a second handle of the inode succeeds")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(open_domain(a, 1, row_file(0), 0));
	expect_ok(modify_init(a, 1, qpn));
}

ROW("5.4", "modifying a receive QP that has ended is EINVAL")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(unreg(a, D, qpn));
	expect(modify_init(a, D, qpn), EINVAL);
}

static struct actor *target, *modifier;
static uint32_t target_qpn;

static struct result try_modify(const struct ibv_qp_attr *attr, int mask)
{
	return modify_rcv_qp(modifier, D, target_qpn, attr, mask);
}

static void make_target(void)
{
	target = modifier = with_domain();
	target_qpn = new_rcv_qp(target);
}

static void required_bits(enum ibv_qp_state state)
{
	make_target();
	bring_rcv_qp(target, target_qpn, state - 1, target, PEER_QPN);
	masks_required(try_modify, attr_to(state, target, PEER_QPN), mask_to(state));
}

ROW_CALL("5.9", "a receive QP refuses a transition to INIT that lacks one bit of RC's mask",
	 required_bits(IBV_QPS_INIT))
ROW_CALL("5.9", "a receive QP refuses a transition to RTR that lacks one bit of RC's mask",
	 required_bits(IBV_QPS_RTR))
ROW_CALL("5.9", "a receive QP refuses a transition to RTS that lacks one bit of RC's mask",
	 required_bits(IBV_QPS_RTS))

ROW("5.9", "a process that is not registered needs every bit of RC's mask to RTR, too")
{
	make_target();
	modifier = with_domain();
	bring_rcv_qp(modifier, target_qpn, IBV_QPS_INIT, target, PEER_QPN);
	masks_required(try_modify, attr_to(IBV_QPS_RTR, target, PEER_QPN), MASK_RTR);
}

static void keeps_rule(masks_rule *rule)
{
	make_target();
	rule(try_modify, target);
}

ROW_CALL("5.9", "a receive QP accepts the optional bits of each transition up to RTS",
	 keeps_rule(masks_optional))
ROW_CALL("5.9", "a receive QP refuses bits that are not of the transition",
	 keeps_rule(masks_foreign))
ROW_CALL("5.9", "a receive QP refuses to skip a state, to go back to INIT, and unknown states",
	 keeps_rule(masks_refused_states))
ROW_CALL("5.9", "a receive QP goes to ERR and back to RESET", keeps_rule(masks_error_and_back))

static void accepts_port(uint8_t port)
{
	make_target();
	masks_ports_of_vectors(try_modify, target, port);
}

ROW_CALL("5.9", "a receive QP accepts address vectors with port 0", accepts_port(0))
ROW_CALL("5.9", "a receive QP accepts address vectors with port 77, which no device has",
	 accepts_port(77))
