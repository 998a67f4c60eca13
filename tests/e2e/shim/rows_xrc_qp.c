/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 1.3, 5.3 and 5.9: ibv_create_qp with IBV_QPT_XRC, and the masks old programs pass for
 * such a QP.
 */

#include "masks.h"
#include "row.h"

static struct actor *with_qp(void)
{
	struct actor *a = with_domain();

	expect_ok(create_qp(a, 0, D));
	return a;
}

static void created(void)
{
	struct result r = create_qp(with_domain(), 0, D);

	expect_ok(r);
	expect_that(r.number > 1 && r.number <= 0xffffff);
	expect_eq(r.attr.qp_state, IBV_QPS_RESET);
	expect_facts(r, CONTEXT_MATCHES | PD_MATCHES | USER_CONTEXT_MATCHES | CQ_MATCHES |
				SRQ_MATCHES);
}

/*
 * MVAPICH leaves receive capacities there that are meant for RC; libmlx4 took them as 0 and wrote
 * that back.
 */
static void receive_capacities(void)
{
	struct result r = create_qp(with_domain(), 0, D);

	expect_ok(r);
	expect_eq(r.cap.max_recv_wr, 0);
	expect_eq(r.cap.max_recv_sge, 0);
}

static void send_capacities(void)
{
	struct result r = create_qp(with_domain(), 0, D);

	expect_ok(r);
	expect_that(r.cap.max_send_wr >= 16 && r.cap.max_send_sge >= 1 &&
		    r.cap.max_inline_data >= 64);
}

static void in_a_private_domain(void)
{
	struct actor *a = with_private();

	expect_ok(create_qp(a, 0, D));
}

static struct result create_at(enum place pd, enum place send_cq, enum place recv_cq)
{
	struct request request = qp_request(0, D);

	request.pd = pd;
	request.send_cq = send_cq;
	request.recv_cq = recv_cq;
	return actor_ask(with_domain(), &request);
}

static void no_pd(void)
{
	expect(create_at(NOWHERE, OWN, OWN), EINVAL);
}

static void no_send_cq(void)
{
	expect(create_at(OWN, NOWHERE, OWN), EINVAL);
}

static void no_recv_cq(void)
{
	expect(create_at(OWN, OWN, NOWHERE), EINVAL);
}

static void cq_of_another_device(void)
{
	expect(create_at(OWN, OTHER_DEVICE, OTHER_DEVICE), EINVAL);
	expect(create_at(OWN, OWN, OTHER_DEVICE), EINVAL);
}

static void pd_of_another_device(void)
{
	expect(create_at(OTHER_DEVICE, OWN, OWN), EINVAL);
}

static void domain_of_another_device(void)
{
	struct actor *a = actor_open(0);

	expect_ok(open_elsewhere(a, D, row_file(0), OTHER_DEVICE));
	expect(create_qp(a, 0, D), EINVAL);
}

static void domain_of_another_context(void)
{
	struct actor *a = actor_open(0);

	expect_ok(open_elsewhere(a, D, row_file(0), SAME_DEVICE));
	expect(create_qp(a, 0, D), EINVAL);
}

static struct result create_with_srq(struct actor *a)
{
	struct request request = qp_request(0, D);

	request.srq = 0;
	return actor_ask(a, &request);
}

static void with_an_xrc_srq(void)
{
	struct actor *a = with_domain();

	expect_ok(create_srq(a, 0, D));
	expect(create_with_srq(a), EINVAL);
}

static void with_a_plain_srq(void)
{
	struct actor *a = with_domain();

	expect_ret(create_plain_srq(a, 0), 0);
	expect(create_with_srq(a), EINVAL);
}

/* GASNet finds the largest inline size by trying, and tries a smaller one only after EINVAL. */
static void absurd_inline(void)
{
	struct request request = qp_request(0, D);

	request.cap.max_inline_data = 0xffffffff;
	expect(actor_ask(with_domain(), &request), EINVAL);
}

static void refusal_counts_nothing(void)
{
	struct request request = qp_request(0, D);
	struct actor *a = with_domain();

	request.cap.max_inline_data = 0xffffffff;
	expect(actor_ask(a, &request), EINVAL);
	expect_ok(close_domain(a, D));
}

static void full_masks_to_rts(void)
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

static struct actor *target;

static struct result try_modify(const struct ibv_qp_attr *attr, int mask)
{
	return modify_qp(target, 0, attr, mask);
}

static void required_bits(enum ibv_qp_state state)
{
	target = with_qp();
	bring_qp(target, 0, state - 1, target, PEER_QPN);
	masks_required(try_modify, attr_to(state, target, PEER_QPN), mask_to(state));
}

static void required_to_init(void)
{
	required_bits(IBV_QPS_INIT);
}

static void required_to_rtr(void)
{
	required_bits(IBV_QPS_RTR);
}

static void required_to_rts(void)
{
	required_bits(IBV_QPS_RTS);
}

static void optional_bits(void)
{
	target = with_qp();
	masks_optional(try_modify, target);
}

static void foreign_bits(void)
{
	target = with_qp();
	masks_foreign(try_modify, target);
}

static void skipped_states(void)
{
	target = with_qp();
	masks_skipped_states(try_modify, target);
}

static void error_and_back(void)
{
	target = with_qp();
	masks_error_and_back(try_modify, target);
}

static void ports_left_0(void)
{
	target = with_qp();
	masks_ports_of_vectors(try_modify, target, 0);
}

static void ports_of_nowhere(void)
{
	target = with_qp();
	masks_ports_of_vectors(try_modify, target, 77);
}

static void queried(int mask)
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

static void query_with_mask_0(void)
{
	queried(0);
}

static void query_with_every_bit(void)
{
	queried(-1);
}

static void query_caps(void)
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

static void null_modify_attr(void)
{
	struct request request = { .op = OP_MODIFY_QP, .flags = NULL_ATTR, .mask = MASK_INIT };

	expect(actor_ask(with_qp(), &request), EINVAL);
}

static const struct row rows[] = {
	{ "5.3", "an XRC QP is in RESET, with the fields of its arguments", created },
	{ "5.3", "its receive capacities are 0 whatever was asked", receive_capacities },
	{ "5.3", "its send capacities are written back", send_capacities },
	{ "5.3", "a private domain has XRC QPs too", in_a_private_domain },
	{ "5.3", "an XRC QP without a PD is EINVAL", no_pd },
	{ "5.3", "an XRC QP without send_cq is EINVAL", no_send_cq },
	{ "5.3", "an XRC QP without recv_cq is EINVAL", no_recv_cq },
	{ "5.3", "an XRC QP with another device's CQ is EINVAL", cq_of_another_device },
	{ "5.3", "an XRC QP with another device's PD is EINVAL", pd_of_another_device },
	{ "5.3", "an XRC QP with another device's domain is EINVAL", domain_of_another_device },
	{ "5.3", "an XRC QP with another context's domain is EINVAL", domain_of_another_context },
	{ "5.3", "an XRC QP with an XRC SRQ is EINVAL", with_an_xrc_srq },
	{ "5.3", "an XRC QP with an ordinary SRQ is EINVAL", with_a_plain_srq },
	{ "5.3", "inline data of 4 GiB is EINVAL", absurd_inline },
	{ "5.2", "a QP that was refused keeps no domain", refusal_counts_nothing },
	{ "5.9", "an XRC QP takes RC's full masks to INIT, RTR and RTS", full_masks_to_rts },
	{ "5.9", "every bit to INIT is required of an XRC QP", required_to_init },
	{ "5.9", "every bit to RTR is required of an XRC QP", required_to_rtr },
	{ "5.9", "every bit to RTS is required of an XRC QP", required_to_rts },
	{ "5.9", "an XRC QP takes the optional bits of its states", optional_bits },
	{ "5.9", "an XRC QP refuses bits that are not of the transition", foreign_bits },
	{ "5.9", "an XRC QP refuses to skip a state", skipped_states },
	{ "5.9", "an XRC QP goes to ERR and back to RESET", error_and_back },
	{ "5.9", "an XRC QP takes address vectors with port 0", ports_left_0 },
	{ "5.9", "an XRC QP takes address vectors with any port", ports_of_nowhere },
	{ "2.3", "a query with mask 0 tells everything of an XRC QP", query_with_mask_0 },
	{ "2.3", "a query with every mask bit tells everything of it", query_with_every_bit },
	{ "1.3", "an XRC QP's capacities can be queried", query_caps },
	{ "1.3", "modify_qp with a NULL attr is EINVAL", null_modify_attr },
};

GROUP(xrc_qp);
