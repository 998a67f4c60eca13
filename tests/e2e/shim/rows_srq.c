/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 1.3, 2.1, 2.6 and 5.3: XRC SRQs, and what old programs read in the struct. */

#include "row.h"

static struct result create_with(struct actor *a, struct ibv_srq_attr attr)
{
	struct request request = srq_request(0, D);

	request.srq_attr = attr;
	return actor_ask(a, &request);
}

static void number_where_ofed_reads_it(void)
{
	struct result r = create_srq(with_domain(), 0, D);

	expect_ok(r);
	expect_that(r.number > 0 && r.number <= 0xffffff);
	expect_eq(r.raw_number, r.number);
}

static void mlnx_layout(void)
{
	struct result r = create_srq(with_domain(), 0, D);

	expect_ok(r);
	expect_facts(r, MLNX_LAYOUT_MATCHES);
}

static void fields(void)
{
	struct result r = create_srq(with_domain(), 0, D);

	expect_ok(r);
	expect_facts(r, CONTEXT_MATCHES | PD_MATCHES | USER_CONTEXT_MATCHES | DOMAIN_MATCHES |
				CQ_MATCHES);
}

static void numbers_differ(void)
{
	struct actor *a = with_domain(), *b = with_domain();
	struct result first = create_srq(a, 0, D), second = create_srq(a, 1, D),
		      third = create_srq(b, 0, D);

	expect_ok(first);
	expect_ok(second);
	expect_ok(third);
	expect_that(first.number != second.number && first.number != third.number &&
		    second.number != third.number);
}

static void written_back(void)
{
	struct result r =
		create_with(with_domain(), (struct ibv_srq_attr){ .max_wr = 100, .max_sge = 2 });

	expect_ok(r);
	/* libmlx4 rounds both up. */
	expect_that(r.srq_attr.max_wr >= 100 && r.srq_attr.max_wr <= 65536);
	expect_that(r.srq_attr.max_sge >= 2 && r.srq_attr.max_sge <= 64);
}

static void what_is_written_back_can_be_posted(void)
{
	struct actor *a = with_domain();
	struct result r = create_with(a, (struct ibv_srq_attr){ .max_wr = 5, .max_sge = 1 });

	expect_ok(r);
	for (uint32_t i = 0; i < r.srq_attr.max_wr; i++)
		expect_ret(post_recv(a, 0), 0);
	expect_that(post_recv(a, 0).ret != 0);
}

static void max_wr_too_large(void)
{
	expect(create_with(with_domain(), (struct ibv_srq_attr){ .max_wr = 65537, .max_sge = 1 }),
	       EINVAL);
}

static void max_sge_too_large(void)
{
	expect(create_with(with_domain(), (struct ibv_srq_attr){ .max_wr = 1, .max_sge = 65 }),
	       EINVAL);
}

/* qperf's client creates one and never posts to it. */
static void max_wr_zero(void)
{
	struct actor *a = with_domain();
	struct result r = create_with(a, (struct ibv_srq_attr){ .max_wr = 0, .max_sge = 1 });

	expect_ok(r);
	expect_that(r.srq_attr.max_wr >= 1);
	expect_ok(destroy_srq(a, 0));
}

/* MVAPICH passes 20 and more, rdma_bw 30 for an SRQ of one entry. OFED ignored it here. */
static void limit_ignored(void)
{
	struct actor *a = with_domain();
	struct result r =
		create_with(a, (struct ibv_srq_attr){ .max_wr = 1, .max_sge = 1, .srq_limit = 30 });

	expect_ok(r);
	expect_eq(r.srq_attr.srq_limit, 30);
	r = query_srq(a, 0);
	expect_ret(r, 0);
	expect_eq(r.srq_attr.srq_limit, 0);
}

static void limit_set_and_queried(void)
{
	struct actor *a = with_domain();
	struct result created = create_srq(a, 0, D), r;

	expect_ok(created);
	expect_ret(modify_srq(a, 0, 3), 0);
	r = query_srq(a, 0);
	expect_ret(r, 0);
	expect_eq(r.srq_attr.srq_limit, 3);
	expect_that(r.srq_attr.max_wr >= 16);
	expect_that(r.srq_attr.max_sge >= 1);
}

static void in_a_private_domain(void)
{
	struct actor *a = with_private();

	expect_ok(create_srq(a, 0, D));
	expect_ok(destroy_srq(a, 0));
}

static void made_and_ended_often(void)
{
	struct actor *a = with_domain();

	for (int i = 0; i < 50; i++) {
		expect_ok(create_srq(a, 0, D));
		expect_ok(destroy_srq(a, 0));
	}
	expect_ok(close_domain(a, D));
}

static struct result create_at(enum place pd, enum place cq)
{
	struct request request = srq_request(0, D);

	request.pd = pd;
	request.recv_cq = cq;
	return actor_ask(with_domain(), &request);
}

static void null_pd(void)
{
	expect(create_at(NOWHERE, OWN), EINVAL);
}

static void null_cq(void)
{
	expect(create_at(OWN, NOWHERE), EINVAL);
}

static void null_attr(void)
{
	struct request request = srq_request(0, D);

	request.flags = NULL_ATTR;
	expect(actor_ask(with_domain(), &request), EINVAL);
}

static void everything_null(void)
{
	struct request request = srq_request(0, NIL);

	request.pd = NOWHERE;
	request.recv_cq = NOWHERE;
	request.flags = NULL_ATTR;
	expect(actor_ask(actor_open(0), &request), EINVAL);
}

static void pd_of_another_device(void)
{
	expect(create_at(OTHER_DEVICE, OWN), EINVAL);
}

static void pd_of_another_context(void)
{
	expect(create_at(SAME_DEVICE, OWN), EINVAL);
}

static void cq_of_another_device(void)
{
	expect(create_at(OWN, OTHER_DEVICE), EINVAL);
}

static void cq_of_another_context(void)
{
	expect(create_at(OWN, SAME_DEVICE), EINVAL);
}

static void domain_of_another_device(void)
{
	struct actor *a = actor_open(0);

	expect_ok(open_elsewhere(a, D, row_file(0), OTHER_DEVICE));
	expect(create_srq(a, 0, D), EINVAL);
}

static void domain_of_another_context(void)
{
	struct actor *a = actor_open(0);

	expect_ok(open_elsewhere(a, D, row_file(0), SAME_DEVICE));
	expect(create_srq(a, 0, D), EINVAL);
}

static void refusal_counts_nothing(void)
{
	struct actor *a = with_domain();

	expect(create_with(a, (struct ibv_srq_attr){ .max_wr = 65537, .max_sge = 1 }), EINVAL);
	expect_ok(close_domain(a, D));
}

static const struct row rows[] = {
	{ "2.1", "an XRC SRQ's number stands at offset 32", number_where_ofed_reads_it },
	{ "2.6", "number, domain and CQ stand at 152, 160 and 168 too", mlnx_layout },
	{ "1.3", "context, srq_context, PD, domain and CQ are filled in", fields },
	{ "5.3", "every XRC SRQ has a number of its own", numbers_differ },
	{ "1.3", "max_wr and max_sge are written back", written_back },
	{ "1.3", "as many as written back can be posted, no more",
	  what_is_written_back_can_be_posted },
	{ "1.3", "max_wr above 65536 is refused", max_wr_too_large },
	{ "1.3", "max_sge above 64 is refused", max_sge_too_large },
	{ "5.3", "max_wr 0 makes a small one", max_wr_zero },
	{ "5.3", "srq_limit is ignored when it is made", limit_ignored },
	{ "5.3", "the limit can be set and read back", limit_set_and_queried },
	{ "5.3", "a private domain has XRC SRQs too", in_a_private_domain },
	{ "5.3", "making and ending one leaves nothing behind", made_and_ended_often },
	{ "5.3", "create_xrc_srq with a NULL PD is EINVAL", null_pd },
	{ "5.3", "create_xrc_srq with a NULL CQ is EINVAL", null_cq },
	{ "5.3", "create_xrc_srq with a NULL attr is EINVAL", null_attr },
	{ "5.3", "create_xrc_srq with only NULLs is EINVAL", everything_null },
	{ "5.3", "create_xrc_srq with another device's PD is EINVAL", pd_of_another_device },
	{ "5.3", "create_xrc_srq with another context's PD is EINVAL", pd_of_another_context },
	{ "5.3", "create_xrc_srq with another device's CQ is EINVAL", cq_of_another_device },
	{ "5.3", "create_xrc_srq with another context's CQ is EINVAL", cq_of_another_context },
	{ "5.3", "create_xrc_srq with another device's domain is EINVAL",
	  domain_of_another_device },
	{ "5.3", "create_xrc_srq with another context's domain is EINVAL",
	  domain_of_another_context },
	{ "5.2", "an SRQ that was refused keeps no domain", refusal_counts_nothing },
};

GROUP(srq);
