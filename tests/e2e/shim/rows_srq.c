/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 1.3, 2.1, 2.6 and 5.3: XRC SRQs, and what old programs read in the struct. */

#define GROUP "srq"

#include "row.h"

static struct result create_with(struct actor *a, uint32_t max_wr, uint32_t max_sge)
{
	struct request request = srq_request(0, D);

	request.srq_attr = (struct ibv_srq_attr){ .max_wr = max_wr, .max_sge = max_sge };
	return actor_ask(a, request);
}

ROW("2.1", "an XRC SRQ's number stands at the offset of OFED 1.5")
{
	struct result r = create_srq(with_domain(), 0, D);

	expect_ok(r);
	expect_that(r.raw_number > 0 && r.raw_number <= 0xffffff);
	expect_eq(r.raw_number, r.number);
}

ROW("2.6", "number, domain and CQ stand at the offsets of MLNX_OFED too")
{
	struct result r = create_srq(with_domain(), 0, D);

	expect_ok(r);
	expect_facts(r, MLNX_LAYOUT_MATCHES);
}

ROW("1.3", "context, srq_context, PD, domain and CQ are filled in")
{
	struct result r = create_srq(with_domain(), 0, D);

	expect_ok(r);
	expect_facts(r, CONTEXT_MATCHES | PD_MATCHES | USER_CONTEXT_MATCHES | DOMAIN_MATCHES |
				CQ_MATCHES);
}

ROW("5.3", "every XRC SRQ has a number of its own")
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

ROW("1.3", "max_wr and max_sge are written back")
{
	struct actor *a = with_domain();
	struct result r = create_with(a, 100, 2),
		      queried = query_srq(a, 0);

	expect_ok(r);
	expect_ret(queried, 0);
	/* The drivers round both up. */
	expect_that(r.srq_attr.max_wr > 100 && r.srq_attr.max_wr <= 65536);
	expect_that(r.srq_attr.max_sge >= 2 && r.srq_attr.max_sge <= 64);
	expect_eq(r.srq_attr.max_sge, queried.srq_attr.max_sge);
}

ROW("1.3", "as many receives as max_wr can be posted, no more")
{
	struct actor *a = with_domain();
	struct result r = create_with(a, 5, 1);

	expect_ok(r);
	for (uint32_t i = 0; i < r.srq_attr.max_wr; i++)
		expect_ret(post_recv(a, 0), 0);
	expect_that(post_recv(a, 0).ret != 0);
}

/* qperf's client creates one and never posts to it. */
ROW("5.3", "max_wr 0 makes an SRQ of at least one entry")
{
	struct actor *a = with_domain();
	struct result r = create_with(a, 0, 1);

	expect_ok(r);
	expect_that(r.srq_attr.max_wr >= 1);
	expect_ok(destroy_srq(a, 0));
}

/*
 * MVAPICH passes 20 or more. rdma_bw passes 30 for an SRQ of one entry. OFED ignored srq_limit at
 * creation.
 */
ROW("5.3", "srq_limit is ignored when an SRQ is created")
{
	struct actor *a = with_domain();
	struct request request = srq_request(0, D);
	struct result r;

	request.srq_attr =
		(struct ibv_srq_attr){ .max_wr = 1, .max_sge = 1, .srq_limit = 30 };
	r = actor_ask(a, request);
	expect_ok(r);
	expect_eq(r.srq_attr.srq_limit, 30);
	r = query_srq(a, 0);
	expect_ret(r, 0);
	expect_eq(r.srq_attr.srq_limit, 0);
}

ROW("5.3", "the limit can be set and read back")
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

ROW("5.3", "a domain closes after 50 SRQs were created and destroyed")
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
	return actor_ask(with_domain(), request);
}

ROW_CALL("5.3", "create_xrc_srq with a NULL PD is EINVAL", expect(create_at(NOWHERE, OWN), EINVAL))
ROW_CALL("5.3", "create_xrc_srq with a NULL CQ is EINVAL", expect(create_at(OWN, NOWHERE), EINVAL))

ROW("5.3", "create_xrc_srq with a NULL attr is EINVAL")
{
	struct request request = srq_request(0, D);

	request.flags = NULL_ATTR;
	expect(actor_ask(with_domain(), request), EINVAL);
}

ROW("5.3", "create_xrc_srq with only NULLs is EINVAL")
{
	struct request request = srq_request(0, NIL);

	request.pd = NOWHERE;
	request.recv_cq = NOWHERE;
	request.flags = NULL_ATTR;
	expect(actor_ask(actor_open(0), request), EINVAL);
}

ROW_CALL("5.3", "create_xrc_srq with another device's PD is EINVAL",
	 expect(create_at(OTHER_DEVICE, OWN), EINVAL))
ROW_CALL("5.3", "create_xrc_srq with another context's PD is EINVAL",
	 expect(create_at(SAME_DEVICE, OWN), EINVAL))
ROW_CALL("5.3", "create_xrc_srq with another device's CQ is EINVAL",
	 expect(create_at(OWN, OTHER_DEVICE), EINVAL))
ROW_CALL("5.3", "create_xrc_srq with another context's CQ is EINVAL",
	 expect(create_at(OWN, SAME_DEVICE), EINVAL))

static void domain_refused(enum place where)
{
	struct actor *a = actor_open(0);

	expect_ok(open_elsewhere(a, D, row_file(0), where));
	expect(create_srq(a, 0, D), EINVAL);
}

ROW_CALL("5.3", "create_xrc_srq with another device's domain is EINVAL",
	 domain_refused(OTHER_DEVICE))
ROW_CALL("5.3", "create_xrc_srq with another context's domain is EINVAL",
	 domain_refused(SAME_DEVICE))

/* OFED allowed 64 entries, so only the driver refuses them. */
ROW("5.2", "an SRQ that the driver refuses does not keep its domain busy")
{
	struct actor *a = with_domain();

	expect(create_with(a, 1, 64), EINVAL);
	expect_ok(close_domain(a, D));
}
