/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 1.3, 2.1, 2.6 and 5.3: XRC SRQs, and what old programs read in the struct. */

#define GROUP "srq"

#include "row.h"

static struct result create_with(struct actor *a, struct ibv_srq_attr attr)
{
	return ask(a, create_srq, .srq_attr = attr);
}

ROW("2.1", "an XRC SRQ's number stands at the offset of OFED 1.5")
{
	struct result r = create_srq(with_domain(), 0, D);

	expect_ok(r);
	must(r.raw_number > 0 && r.raw_number <= 0xffffff);
	must_eq(r.raw_number, r.number);
}

ROW_CALL("2.6", "number, domain and CQ stand at the offsets of MLNX_OFED too",
	 must(create_srq(with_domain(), 0, D).mlnx_layout))
ROW_CALL("1.3", "context, srq_context, PD, domain and CQ are filled in",
	 must(create_srq(with_domain(), 0, D).as_given))

ROW("5.3", "every XRC SRQ has a number of its own")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t first = number_of(create_srq(a, 0, D)), second = number_of(create_srq(a, 1, D)),
		 third = number_of(create_srq(b, 0, D));

	must(first != second && first != third && second != third);
}

ROW("1.3", "max_wr and max_sge are written back")
{
	struct actor *a = with_domain();
	struct result r = create_with(a, (struct ibv_srq_attr){ .max_wr = 100, .max_sge = 2 });

	expect_ok(r);
	/* The drivers round both up. */
	must(r.srq_attr.max_wr > 100 && r.srq_attr.max_wr <= 65536);
	must(r.srq_attr.max_sge >= 2 && r.srq_attr.max_sge <= 64);
	/* rows_ordinary.c posts as many receives as the query returns. */
	must_eq(r.srq_attr.max_wr, query_srq(a, 0).srq_attr.max_wr);
	must_eq(r.srq_attr.max_sge, query_srq(a, 0).srq_attr.max_sge);
}

/* qperf's client creates one and never posts to it. */
ROW("5.3", "max_wr 0 makes an SRQ of at least one entry")
{
	struct actor *a = with_domain();
	struct result r = create_with(a, (struct ibv_srq_attr){ .max_sge = 1 });

	expect_ok(r);
	must(r.srq_attr.max_wr >= 1);
	expect_ok(destroy_srq(a, 0));
}

/*
 * MVAPICH passes 20 or more. rdma_bw passes 30 for an SRQ of one entry. OFED ignored srq_limit at
 * creation.
 */
ROW("5.3", "srq_limit is ignored when an SRQ is created")
{
	struct actor *a = with_domain();
	struct result r = create_with(
		a, (struct ibv_srq_attr){ .max_wr = 1, .max_sge = 1, .srq_limit = 30 });

	expect_ok(r);
	must_eq(r.srq_attr.srq_limit, 30);
	r = query_srq(a, 0);
	expect_ret(r, 0);
	must_eq(r.srq_attr.srq_limit, 0);
}

ROW("5.3", "the limit can be set and read back")
{
	struct actor *a = with_domain();
	struct result r;

	expect_ok(create_srq(a, 0, D));
	expect_ret(modify_srq(a, 0, 3), 0);
	r = query_srq(a, 0);
	expect_ret(r, 0);
	must_eq(r.srq_attr.srq_limit, 3);
	must(r.srq_attr.max_wr >= 16);
	must(r.srq_attr.max_sge >= 1);
}

#define create_at(actor, pd_, cq) ask(actor, create_srq, .pd = pd_, .recv_cq = cq, SRQ_USUAL)

ROW("5.3", "create_xrc_srq refuses a PD or CQ that is NULL or another context's with EINVAL")
{
	struct actor *a = with_domain();

	for (enum place place = NOWHERE; place < PLACES; place++) {
		if (place == OWN)
			continue;
		expect(create_at(a, place, OWN), EINVAL);
		expect(create_at(a, OWN, place), EINVAL);
	}
}

ROW("5.3", "create_xrc_srq with a NULL attr is EINVAL, also with other NULLs")
{
	struct actor *a = with_domain();

	expect(ask(a, create_srq, .flags = NULL_ATTR), EINVAL);
	expect(ask(a, create_srq, .flags = NULL_ATTR, .dom = NIL, .pd = NOWHERE,
		   .recv_cq = NOWHERE), EINVAL);
}

ROW("5.3", "create_xrc_srq refuses a domain of another device or context with EINVAL")
{
	struct actor *a = actor_open(0);

	expect_ok(open_elsewhere(a, D, OTHER_DEVICE));
	expect(create_srq(a, 0, D), EINVAL);
	expect_ok(open_elsewhere(a, D, SAME_DEVICE));
	expect(create_srq(a, 0, D), EINVAL);
}
