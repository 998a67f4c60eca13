/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 1.3, 2.3, 5.2, 5.3 and 5.9: ibv_create_qp with IBV_QPT_XRC, and the masks that old
 * programs pass for such a QP.
 */

#define GROUP "xrc_qp"

#include "masks.h"
#include "row.h"

static struct actor *with_qp(void)
{
	struct actor *a = with_domain();

	expect_ok(create_qp(a, 0, D));
	return a;
}

ROW("5.3", "a new XRC QP is in RESET and points to the objects of its init_attr")
{
	struct result r = create_qp(with_domain(), 0, D);

	expect_ok(r);
	expect_that(r.number > 1 && r.number <= 0xffffff);
	expect_eq(r.attr.qp_state, IBV_QPS_RESET);
	expect_facts(r, CONTEXT_MATCHES | PD_MATCHES | USER_CONTEXT_MATCHES | CQ_MATCHES |
				SRQ_MATCHES);
}

/* MVAPICH leaves RC's receive capacities in init_attr. libmlx4 took them as 0 and wrote 0 back. */
ROW("5.3", "an XRC QP's receive capacities are 0, even if the program requests more")
{
	struct request request = qp_request(0, D);
	struct result r;

	request.cap.max_recv_wr = 7;
	request.cap.max_recv_sge = 1;
	r = actor_ask(with_domain(), request);
	expect_ok(r);
	expect_eq(r.cap.max_recv_wr, 0);
	expect_eq(r.cap.max_recv_sge, 0);
}

ROW("5.3", "an XRC QP's send capacities are written back")
{
	struct request request = qp_request(0, D);
	struct result r;

	/* Both drivers give more inline data than 1 byte, as it fills the rest of a WQE's unit. */
	request.cap.max_inline_data = 1;
	r = actor_ask(with_domain(), request);
	expect_ok(r);
	expect_that(r.cap.max_send_wr >= 16 && r.cap.max_send_sge >= 1 &&
		    r.cap.max_inline_data > 1);
}

static struct result create_at(enum place pd, enum place send_cq, enum place recv_cq)
{
	struct request request = qp_request(0, D);

	request.pd = pd;
	request.send_cq = send_cq;
	request.recv_cq = recv_cq;
	return actor_ask(with_domain(), request);
}

ROW_CALL("5.3", "ibv_create_qp refuses an XRC QP without a PD with EINVAL",
	 expect(create_at(NOWHERE, OWN, OWN), EINVAL))
ROW_CALL("5.3", "ibv_create_qp refuses an XRC QP without send_cq with EINVAL",
	 expect(create_at(OWN, NOWHERE, OWN), EINVAL))
ROW_CALL("5.3", "ibv_create_qp refuses an XRC QP without recv_cq with EINVAL",
	 expect(create_at(OWN, OWN, NOWHERE), EINVAL))

ROW("5.3", "ibv_create_qp refuses an XRC QP with another device's CQ with EINVAL")
{
	expect(create_at(OWN, OTHER_DEVICE, OTHER_DEVICE), EINVAL);
	expect(create_at(OWN, OWN, OTHER_DEVICE), EINVAL);
}

ROW_CALL("5.3", "ibv_create_qp refuses an XRC QP with another device's PD with EINVAL",
	 expect(create_at(OTHER_DEVICE, OWN, OWN), EINVAL))

static void domain_refused(enum place where)
{
	struct actor *a = actor_open(0);

	expect_ok(open_elsewhere(a, D, row_file(0), where));
	expect(create_qp(a, 0, D), EINVAL);
}

ROW_CALL("5.3", "ibv_create_qp refuses an XRC QP with another device's domain with EINVAL",
	 domain_refused(OTHER_DEVICE))
ROW_CALL("5.3", "ibv_create_qp refuses an XRC QP with another context's domain with EINVAL",
	 domain_refused(SAME_DEVICE))

static struct result create_with_srq(struct actor *a)
{
	struct request request = qp_request(0, D);

	request.srq = 0;
	return actor_ask(a, request);
}

ROW("5.3", "ibv_create_qp refuses an XRC QP with an XRC SRQ with EINVAL")
{
	struct actor *a = with_domain();

	expect_ok(create_srq(a, 0, D));
	expect(create_with_srq(a), EINVAL);
}

ROW("5.3", "ibv_create_qp refuses an XRC QP with an ordinary SRQ with EINVAL")
{
	struct actor *a = with_domain();

	expect_ret(create_plain_srq(a, 0), 0);
	expect(create_with_srq(a), EINVAL);
}

/* GASNet finds the largest inline size by trying, and tries a smaller one only after EINVAL. */
ROW("5.3", "ibv_create_qp refuses 4 GiB of inline data with EINVAL")
{
	struct request request = qp_request(0, D);

	request.cap.max_inline_data = 0xffffffff;
	expect(actor_ask(with_domain(), request), EINVAL);
}

ROW("5.2", "a refused XRC QP does not keep its domain busy")
{
	struct request request = qp_request(0, D);
	struct actor *a = with_domain();

	request.cap.max_inline_data = 0xffffffff;
	expect(actor_ask(a, request), EINVAL);
	expect_ok(close_domain(a, D));
}

ROW("5.9", "an XRC QP accepts RC's full masks to INIT, RTR and RTS")
{
	struct actor *a = with_qp();

	for (enum ibv_qp_state step = IBV_QPS_INIT; step <= IBV_QPS_RTS; step++) {
		struct ibv_qp_attr attr = attr_to(step, a, PEER_QPN);
		struct result r;

		expect_ok(modify_qp(a, 0, &attr, mask_to(step)));
		r = query_qp(a, 0, IBV_QP_STATE);
		expect_ok(r);
		expect_eq(r.attr.qp_state, step);
	}
}

static struct actor *modifier;

static struct result try_modify(const struct ibv_qp_attr *attr, int mask)
{
	return modify_qp(modifier, 0, attr, mask);
}

static void required_bits(enum ibv_qp_state state)
{
	modifier = with_qp();
	bring_qp(modifier, 0, state - 1, modifier, PEER_QPN);
	masks_required(try_modify, attr_to(state, modifier, PEER_QPN), mask_to(state));
}

ROW_CALL("5.9", "an XRC QP refuses a transition to INIT that lacks one bit of RC's mask",
	 required_bits(IBV_QPS_INIT))
ROW_CALL("5.9", "an XRC QP refuses a transition to RTR that lacks one bit of RC's mask",
	 required_bits(IBV_QPS_RTR))
ROW_CALL("5.9", "an XRC QP refuses a transition to RTS that lacks one bit of RC's mask",
	 required_bits(IBV_QPS_RTS))

static void keeps_rule(masks_rule *rule)
{
	modifier = with_qp();
	rule(try_modify, modifier);
}

ROW_CALL("5.9", "an XRC QP accepts the optional bits of each transition up to RTS",
	 keeps_rule(masks_optional))
ROW_CALL("5.9", "an XRC QP refuses bits that are not of the transition", keeps_rule(masks_foreign))
ROW_CALL("5.9", "an XRC QP refuses to skip a state, to go back to INIT, and unknown states",
	 keeps_rule(masks_refused_states))
ROW_CALL("5.9", "an XRC QP goes to ERR and back to RESET", keeps_rule(masks_error_and_back))

static void accepts_port(uint8_t port)
{
	modifier = with_qp();
	masks_ports_of_vectors(try_modify, modifier, port);
}

ROW_CALL("5.9", "an XRC QP accepts address vectors with port 0", accepts_port(0))
ROW_CALL("5.9", "an XRC QP accepts address vectors with port 77, which no device has",
	 accepts_port(77))

static void expect_attributes(int mask)
{
	struct actor *a = with_qp();
	struct result r;

	bring_qp(a, 0, IBV_QPS_RTS, a, 0x812345);
	r = query_qp(a, 0, mask);
	expect_ok(r);
	expect_eq(r.attr.qp_state, IBV_QPS_RTS);
	expect_eq(r.attr.dest_qp_num, 0x812345);
	expect_eq(r.attr.ah_attr.dlid, actor_lid(a));
	expect_eq(r.attr.port_num, 1);
	expect_eq(r.attr.sq_psn, 0x123456);
	expect_that(r.cap.max_send_wr >= 16);
	expect_eq(r.qp_type, IBV_QPT_XRC);
	expect_facts(r, DOMAIN_MATCHES | CQ_MATCHES | USER_CONTEXT_MATCHES | SRQ_MATCHES);
}

ROW_CALL("2.3", "a query of an XRC QP with mask 0 returns state, path, PSN, capacities and type",
	 expect_attributes(0))
ROW_CALL("2.3", "a query of an XRC QP with every mask bit returns them, too", expect_attributes(-1))

ROW("1.3", "a query of an XRC QP returns its inline size and no receive capacity")
{
	struct actor *a = with_domain();
	struct result made = create_qp(a, 0, D), r;

	expect_ok(made);
	r = query_qp(a, 0, IBV_QP_CAP);
	expect_ok(r);
	/* qperf and MVAPICH read it here, one in attr, the other in init_attr. */
	expect_eq(r.attr.cap.max_inline_data, made.cap.max_inline_data);
	expect_eq(r.cap.max_inline_data, made.cap.max_inline_data);
	expect_eq(r.attr.cap.max_recv_wr, 0);
	expect_eq(r.cap.max_recv_wr, 0);
}

ROW("1.3", "ibv_modify_qp refuses a NULL attr with EINVAL")
{
	struct request request = { OPERATION(modify_qp), .flags = NULL_ATTR, .mask = MASK_INIT };

	expect(actor_ask(with_qp(), request), EINVAL);
}
