/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.5: queries of receive QPs. libmlx4 overwrote a part of the kernel's answer, always
 * with the same values.
 */

#define GROUP "query"

#include "row.h"

ROW("5.5", "a new receive QP is in RESET")
{
	struct actor *a = with_domain();
	struct result r = query_rcv_qp(a, D, new_rcv_qp(a), IBV_QP_STATE);

	expect_ok(r);
	expect_eq(r.attr.qp_state, IBV_QPS_RESET);
	expect_eq(r.attr.cur_qp_state, IBV_QPS_RESET);
}

static void expect_libmlx4_init_attr(struct result r)
{
	expect_ok(r);
	expect_eq(r.qp_type, IBV_QPT_XRC);
	expect_facts(r, DOMAIN_MATCHES | POINTERS_NULL);
	expect_eq(r.cap.max_send_wr, 1);
	expect_eq(r.cap.max_send_sge, 1);
	expect_eq(r.cap.max_recv_wr, 0);
	expect_eq(r.cap.max_recv_sge, 0);
	expect_eq(r.cap.max_inline_data, 0);
	expect_eq(r.attr.cap.max_send_wr, 1);
	expect_eq(r.attr.cap.max_send_sge, 1);
	expect_eq(r.attr.cap.max_recv_wr, 0);
	expect_eq(r.attr.cap.max_recv_sge, 0);
	expect_eq(r.attr.cap.max_inline_data, 0);
}

ROW("5.5", "a query returns capacities 1,1,0,0,0, NULL pointers, type XRC and the domain")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_libmlx4_init_attr(query_rcv_qp(a, D, qpn, 0));
	bring_rcv_qp(a, qpn, IBV_QPS_RTR, a, PEER_QPN);
	expect_libmlx4_init_attr(query_rcv_qp(a, D, qpn, IBV_QP_STATE));
}

ROW("5.5", "init_attr names the handle that was given")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(open_domain(a, 1, row_file(0), 0));
	expect_libmlx4_init_attr(query_rcv_qp(a, 1, qpn, IBV_QP_STATE));
}

static void expect_in_rtr(struct actor *a, uint32_t qpn, const struct actor *peer, int mask)
{
	struct result r = query_rcv_qp(a, D, qpn, mask);

	expect_ok(r);
	expect_eq(r.attr.qp_state, IBV_QPS_RTR);
	expect_eq(r.attr.cur_qp_state, IBV_QPS_RTR);
	expect_eq(r.attr.path_mtu, IBV_MTU_1024);
	expect_eq(r.attr.rq_psn, 0x123456);
	expect_eq(r.attr.dest_qp_num, PEER_QPN);
	expect_eq(r.attr.ah_attr.dlid, actor_lid(peer));
	expect_eq(r.attr.port_num, 1);
	expect_eq(r.attr.pkey_index, 0);
	expect_eq(r.attr.min_rnr_timer, 12);
	expect_eq(r.attr.max_dest_rd_atomic, 2);
	expect_eq(r.attr.qp_access_flags & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ),
		  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
}

static void mask_ignored(int mask)
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_in_rtr(a, qpn, a, mask);
}

/* Open MPI asks with mask 0 and reads the address, port, pkey and timeout. */
ROW_CALL("5.5", "a query with mask 0 returns what INIT and RTR have set", mask_ignored(0))
ROW_CALL("5.5", "a query with every mask bit returns what INIT and RTR have set",
	 mask_ignored(-1))
ROW_CALL("5.5", "a query with a mask bit that XRC does not use returns what INIT and RTR have set",
	 mask_ignored(IBV_QP_QKEY))

ROW("5.5", "a query in RTS returns the timeout and the PSN that RTS has set")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);
	struct result r;

	bring_rcv_qp(a, qpn, IBV_QPS_RTS, a, PEER_QPN);
	r = query_rcv_qp(a, D, qpn, 0);
	expect_ok(r);
	expect_eq(r.attr.qp_state, IBV_QPS_RTS);
	expect_eq(r.attr.timeout, 14);
	expect_eq(r.attr.sq_psn, 0x123456);
}

ROW("5.5", "a query without a registration returns what INIT and RTR have set")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_in_rtr(b, qpn, a, 0);
	expect_libmlx4_init_attr(query_rcv_qp(b, D, qpn, 0));
}

ROW("5.5", "a query by a registrant returns what INIT and RTR have set")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(b, D, qpn));
	bring_rcv_qp(a, qpn, IBV_QPS_RTR, a, PEER_QPN);
	expect_in_rtr(b, qpn, a, 0);
}

ROW("5.5", "a query returns what another process has modified")
{
	struct actor *a = with_domain(), *b = with_domain();
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(b, D, qpn));
	bring_rcv_qp(a, qpn, IBV_QPS_INIT, a, PEER_QPN);
	expect_rcv_state(b, qpn, IBV_QPS_INIT);
	expect_ok(modify_rcv_qp(b, D, qpn, &attr, IBV_QP_STATE));
	expect_rcv_state(a, qpn, IBV_QPS_ERR);
}

ROW("5.5", "querying does not register")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
	expect_ok(query_rcv_qp(a, D, qpn, 0));
}

ROW("5.5", "a query does not keep the QP alive")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
	expect(query_rcv_qp(b, D, qpn, 0), EINVAL);
}

ROW("5.5", "querying an unknown number is EINVAL")
{
	struct actor *a = with_domain();

	for (unsigned i = 0; i < UNKNOWN_QPNS; i++)
		expect(query_rcv_qp(a, D, unknown_qpns[i], 0), EINVAL);
}

ROW("5.5", "querying through another domain is EINVAL")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(open_domain(a, 1, row_file(1), O_CREAT));
	expect_ok(open_private(a, 2, O_CREAT));
	expect_ok(open_elsewhere(a, 3, row_file(0), OTHER_DEVICE));
	for (int dom = 1; dom <= 3; dom++)
		expect(query_rcv_qp(a, dom, qpn, 0), EINVAL);
}

ROW("5.5", "querying another kind of QP is EINVAL")
{
	struct actor *a = with_domain();
	struct result rc = create_plain_qp(a, 0, IBV_QPT_RC), xrc = create_qp(a, 1, D);

	expect_ret(rc, 0);
	expect_ok(xrc);
	expect(query_rcv_qp(a, D, rc.number, 0), EINVAL);
	expect(query_rcv_qp(a, D, xrc.number, 0), EINVAL);
}
