/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.4 and 5.5: receive QPs. Any process that opened the domain may modify and query them.
 */

#define GROUP "rcv_qp"

#include <string.h>

#include "row.h"

#define modify_to(actor, dom, qpn, state, peer) \
	modify_rcv_qp(actor, dom, qpn, attr_to(state, peer), mask_to(state))
#define modify_init(actor, dom, qpn) modify_to(actor, dom, qpn, IBV_QPS_INIT, actor)

ROW("5.4", "a receive QP can be created with garbage in init_attr, except in xrc_domain")
{
	struct actor *a = with_domain();

	expect_ok(ask(a, create_rcv_qp, .flags = GARBAGE));
	expect_ok(ask(a, create_rcv_qp));
}

ROW("5.4", "every receive QP has a number of its own, of at most 24 bits and not 0 or 1")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t first = new_rcv_qp(a), second = new_rcv_qp(a), third = new_rcv_qp(b);

	must(first > 1 && first <= 0xffffff);
	must(first != second && first != third && second != third);
}

ROW_JOB("5.4", "a modify needs no registration, and does not register")
{
	bring(b, RCV_QP(qpn), IBV_QPS_RTR, a, PEER_QPN);
	expect_rcv_state(a, qpn, IBV_QPS_RTR);
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
}

ROW_JOB("5.4", "each transition may come from another process")
{
	expect_ok(modify_init(b, D, qpn));
	expect_ok(reg(c, D, qpn));
	expect_ok(modify_to(c, D, qpn, IBV_QPS_RTR, a));
	expect_ok(modify_to(a, D, qpn, IBV_QPS_RTS, a));
	expect_rcv_state(b, qpn, IBV_QPS_RTS);
}

static void reset_by(struct actor *modifier, struct actor *creator, uint32_t qpn)
{
	bring(creator, RCV_QP(qpn), IBV_QPS_RTR, creator, PEER_QPN);
	expect_ok(modify_to(modifier, D, qpn, IBV_QPS_RESET, creator));
	expect_rcv_state(creator, qpn, IBV_QPS_RESET);
}

/*
 * The library uses three kinds of handle: the creator's, a registration's, and a handle that it
 * opens for the call.
 */
ROW_JOB("5.4", "the creator, a registrant and any other process may reset a receive QP")
{
	expect_ok(reg(b, D, qpn));
	reset_by(a, a, qpn);
	reset_by(b, a, qpn);
	reset_by(c, a, qpn);
}

/*
 * Every process of a GASNet job modifies the QP to RTR. All but the first get EINVAL, and query the
 * state.
 */
ROW_JOB("5.5", "a repeated modify is EINVAL, and a query returns the state reached")
{
	expect_ok(reg(b, D, qpn));
	bring(a, RCV_QP(qpn), IBV_QPS_RTR, a, PEER_QPN);
	expect(modify_init(b, D, qpn), EINVAL);
	expect(modify_to(b, D, qpn, IBV_QPS_RTR, a), EINVAL);
	expect_rcv_state(b, qpn, IBV_QPS_RTR);
}

ROW_JOB("5.4", "modifying through a second handle of the inode succeeds")
{
	expect_ok(open_domain(a, 1, FILE_A, 0));
	expect_ok(modify_init(a, 1, qpn));
}

#undef GROUP
#define GROUP "query"

/* libmlx4 overwrote a part of the kernel's answer, always with the same values. */
static void expect_libmlx4_init_attr(struct result r)
{
	const struct ibv_qp_cap cap = { .max_send_wr = 1, .max_send_sge = 1 };

	expect_ok(r);
	must_eq(r.qp_type, IBV_QPT_XRC);
	must(r.as_given);
	must(!memcmp(&r.cap, &cap, sizeof(cap)));
	must(!memcmp(&r.attr.cap, &cap, sizeof(cap)));
}

ROW_JOB("5.5", "a query of a new receive QP returns RESET, one send WR of one SGE, and its domain")
{
	struct result r = query_rcv_qp(a, D, qpn, IBV_QP_STATE);

	expect_libmlx4_init_attr(r);
	must_eq(r.attr.qp_state, IBV_QPS_RESET);
	must_eq(r.attr.cur_qp_state, IBV_QPS_RESET);
}

ROW_JOB("5.5", "init_attr names the handle that was given")
{
	expect_ok(open_domain(a, 1, FILE_A, 0));
	expect_libmlx4_init_attr(query_rcv_qp(a, 1, qpn, IBV_QP_STATE));
}

static void expect_in_rtr(struct actor *a, uint32_t qpn, const struct actor *peer, int mask)
{
	struct result r = query_rcv_qp(a, D, qpn, mask);

	expect_libmlx4_init_attr(r);
	must_eq(r.attr.qp_state, IBV_QPS_RTR);
	must_eq(r.attr.cur_qp_state, IBV_QPS_RTR);
	must_eq(r.attr.path_mtu, IBV_MTU_1024);
	must_eq(r.attr.rq_psn, 0x123456);
	must_eq(r.attr.dest_qp_num, PEER_QPN);
	must_eq(r.attr.ah_attr.dlid, peer->lid);
	must_eq(r.attr.port_num, 1);
	must_eq(r.attr.pkey_index, 0);
	must_eq(r.attr.min_rnr_timer, 12);
	must_eq(r.attr.max_dest_rd_atomic, 2);
	must_eq(r.attr.qp_access_flags & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ),
		IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}

/* Open MPI asks with mask 0 and reads the address, port, pkey and timeout. */
ROW_JOB("5.5", "a query returns what INIT and RTR have set, whatever its mask is")
{
	bring(a, RCV_QP(qpn), IBV_QPS_RTR, a, PEER_QPN);
	expect_in_rtr(a, qpn, a, 0);
	expect_in_rtr(a, qpn, a, -1);
	expect_in_rtr(a, qpn, a, IBV_QP_QKEY);
}

ROW_JOB("5.5", "a query in RTS returns the timeout and the PSN that RTS has set")
{
	struct result r;

	bring(a, RCV_QP(qpn), IBV_QPS_RTS, a, PEER_QPN);
	r = query_rcv_qp(a, D, qpn, 0);
	expect_ok(r);
	must_eq(r.attr.qp_state, IBV_QPS_RTS);
	must_eq(r.attr.timeout, 14);
	must_eq(r.attr.sq_psn, 0x123456);
}

ROW_JOB("5.5", "a query by the creator, a registrant or others returns what a registrant has set")
{
	expect_ok(reg(b, D, qpn));
	bring(b, RCV_QP(qpn), IBV_QPS_RTR, a, PEER_QPN);
	expect_in_rtr(a, qpn, a, 0);
	expect_in_rtr(b, qpn, a, 0);
	expect_in_rtr(c, qpn, a, 0);
}

ROW_JOB("5.5", "a query does not register, and does not keep the QP alive")
{
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
	expect_ok(query_rcv_qp(c, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
	expect(query_rcv_qp(c, D, qpn, 0), EINVAL);
}

/*
 * RoCE (since OFED 1.5.1): ports without LIDs, so receive QPs and their senders are connected by
 * GIDs.
 */
#undef GROUP
#define GROUP "ethernet"

static void expect_path(struct result r, const struct actor *to)
{
	expect_ok(r);
	must_eq(r.attr.ah_attr.is_global, 1);
	must_eq(r.attr.ah_attr.dlid, 0);
	must_eq(r.attr.ah_attr.grh.sgid_index, 0);
	must(!memcmp(&r.attr.ah_attr.grh.dgid, &to->gid, sizeof(to->gid)));
}

ROW_JOB("5.5", "queries of a receive QP and of an XRC QP return the GID of its peer")
{
	bring(a, RCV_QP(qpn), IBV_QPS_RTR, a, PEER_QPN);
	expect_path(query_rcv_qp(a, D, qpn, 0), a);
	expect_ok(create_qp(a, 0, D));
	bring(a, QP(0), IBV_QPS_RTS, a, PEER_QPN);
	expect_path(query_qp(a, 0, IBV_QP_AV), a);
}

ROW_JOB("5.9", "a receive QP or an XRC QP is not connected without a GRH")
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR, a);

	attr.ah_attr.is_global = 0;
	attr.ah_attr.dlid = 1;
	bring(a, RCV_QP(qpn), IBV_QPS_INIT, a, PEER_QPN);
	expect(modify_rcv_qp(a, D, qpn, attr, MASK_RTR), EINVAL);
	expect_rcv_state(a, qpn, IBV_QPS_INIT);
	expect_ok(create_qp(a, 0, D));
	bring(a, QP(0), IBV_QPS_INIT, a, PEER_QPN);
	expect(modify_qp(a, 0, attr, MASK_RTR), EINVAL);
}
