/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 1.3, 2.3, 5.2 and 5.3: ibv_create_qp with IBV_QPT_XRC. */

#define GROUP "xrc_qp"

#include "row.h"

ROW("5.3", "a new XRC QP is in RESET and points to the objects of its init_attr")
{
	struct result r = create_qp(with_domain(), 0, D);

	expect_ok(r);
	must(r.number > 1 && r.number <= 0xffffff);
	must_eq(r.attr.qp_state, IBV_QPS_RESET);
	must(r.as_given);
}

/*
 * MVAPICH leaves RC's receive capacities in init_attr. libmlx4 took them as 0 and wrote 0 back.
 * Both drivers give more inline data than 1 byte, because it fills the rest of a WQE's unit.
 */
ROW("5.3", "an XRC QP's send capacities are written back, and receive capacities of 0")
{
	struct request request = REQUEST(create_qp, QP_USUAL);
	struct result r;

	request.cap.max_inline_data = 1;
	must(request.cap.max_recv_wr > 0 && request.cap.max_recv_sge > 0);
	r = actor_ask(with_domain(), request);
	expect_ok(r);
	must(r.cap.max_send_wr >= 16 && r.cap.max_send_sge >= 1 && r.cap.max_inline_data > 1);
	must_eq(r.cap.max_recv_wr, 0);
	must_eq(r.cap.max_recv_sge, 0);
}

#define create_at(actor, pd_, send, recv) \
	ask(actor, create_qp, .pd = pd_, .send_cq = send, .recv_cq = recv, QP_USUAL)

ROW("5.3", "ibv_create_qp refuses an XRC QP with a NULL or another device's PD or CQ with EINVAL")
{
	static const enum place wrong[] = { NOWHERE, OTHER_DEVICE };
	struct actor *a = with_domain();

	for (int i = 0; i < 2; i++) {
		expect(create_at(a, wrong[i], OWN, OWN), EINVAL);
		expect(create_at(a, OWN, wrong[i], OWN), EINVAL);
		expect(create_at(a, OWN, OWN, wrong[i]), EINVAL);
	}
}

ROW("5.3", "ibv_create_qp refuses an XRC QP with another device's or context's domain with EINVAL")
{
	struct actor *a = actor_open(0);

	expect_ok(open_elsewhere(a, D, OTHER_DEVICE));
	expect(create_qp(a, 0, D), EINVAL);
	expect_ok(open_elsewhere(a, D, SAME_DEVICE));
	expect(create_qp(a, 0, D), EINVAL);
}

ROW("5.3", "ibv_create_qp refuses an XRC QP with an SRQ with EINVAL")
{
	struct request request = REQUEST(create_qp, QP_USUAL);
	struct actor *a = with_domain();

	request.srq = 0;
	expect_ok(create_srq(a, 0, D));
	expect(actor_ask(a, request), EINVAL);
	expect_ret(create_plain_srq(a, 0), 0);
	expect(actor_ask(a, request), EINVAL);
}

static void expect_attributes(int mask)
{
	struct actor *a = with_domain();
	struct result r;

	expect_ok(create_qp(a, 0, D));
	bring(a, QP(0), IBV_QPS_RTS, a, 0x812345);
	r = query_qp(a, 0, mask);
	expect_ok(r);
	must_eq(r.attr.qp_state, IBV_QPS_RTS);
	must_eq(r.attr.dest_qp_num, 0x812345);
	must_eq(r.attr.ah_attr.dlid, a->lid);
	must_eq(r.attr.port_num, 1);
	must_eq(r.attr.sq_psn, 0x123456);
	must(r.cap.max_send_wr >= 16);
	must_eq(r.qp_type, IBV_QPT_XRC);
	must(r.as_given);
}

ROW_CALL("2.3", "a query of an XRC QP with mask 0 returns state, path, PSN, capacities and type",
	 expect_attributes(0))
ROW_CALL("2.3", "a query of an XRC QP with every mask bit returns the same", expect_attributes(-1))

ROW("1.3", "a query of an XRC QP returns its inline size and no receive capacity")
{
	struct actor *a = with_domain();
	struct result made = create_qp(a, 0, D), r;

	expect_ok(made);
	r = query_qp(a, 0, IBV_QP_CAP);
	expect_ok(r);
	/* qperf and MVAPICH read it here, one in attr, the other in init_attr. */
	must_eq(r.attr.cap.max_inline_data, made.cap.max_inline_data);
	must_eq(r.cap.max_inline_data, made.cap.max_inline_data);
	must_eq(r.attr.cap.max_recv_wr, 0);
	must_eq(r.cap.max_recv_wr, 0);
}
