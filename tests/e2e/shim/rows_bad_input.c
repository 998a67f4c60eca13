/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 1.3 and 5: every verb with a domain that is NULL, was never opened, or is closed, or
 * with a number that is no receive QP of the domain. Some of the old functions crashed then, and no
 * program relies on a crash. The others returned EINVAL.
 */

#define GROUP "bad_input"

#include "row.h"

#define UNKNOWN_QPN 0x800001

static const struct request without_number[] = {
	{ VERB(close_domain) },
	{ VERB(create_srq), SRQ_USUAL },
	{ VERB(create_qp), QP_USUAL },
	{ VERB(create_rcv_qp), .flags = GARBAGE },
};

static const struct request with_number[] = {
	{ VERB(modify_rcv_qp), .mask = MASK_INIT,
	  .attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 } },
	{ VERB(query_rcv_qp) },
	{ VERB(reg) },
	{ VERB(unreg) },
};

static void expect_refused(struct actor *actor, struct request request)
{
	row_expect(__FILE__, __LINE__, request.name, actor_ask(actor, request), EINVAL, true);
}

/* modify, query, reg and unreg */
static void every_rcv_verb_refuses(struct actor *actor, int dom, uint32_t number)
{
	for (unsigned i = 0; i < sizeof(with_number) / sizeof(with_number[0]); i++) {
		struct request request = with_number[i];

		request.dom = dom;
		request.number = number;
		expect_refused(actor, request);
	}
}

static void every_verb_refuses(struct actor *actor, int dom, uint32_t number)
{
	for (unsigned i = 0; i < sizeof(without_number) / sizeof(without_number[0]); i++) {
		struct request request = without_number[i];

		request.dom = dom;
		expect_refused(actor, request);
	}
	every_rcv_verb_refuses(actor, dom, number);
}

ROW_JOB("1.3", "every verb refuses a NULL domain with EINVAL, with the number of a receive QP")
{
	every_verb_refuses(a, NIL, qpn);
}

ROW_JOB("1.3", "every verb refuses an unknown domain with EINVAL, with the number of a receive QP")
{
	every_verb_refuses(a, WILD, qpn);
}

ROW_JOB("5.2", "every verb refuses a closed domain with EINVAL, with the number of a receive QP")
{
	expect_ok(open_domain(a, 1, FILE_A, 0));
	expect_ok(close_domain(a, 1));
	every_verb_refuses(a, 1, qpn);
}

ROW_JOB("5.7", "after the device is closed, every verb refuses its domains with EINVAL")
{
	expect_ok(reg(b, D, qpn));
	actor_end(a, BY_CLOSE_DEVICE);
	every_verb_refuses(a, D, qpn);
	expect_ok(query_rcv_qp(b, D, qpn, 0));
}

/* QP numbers have 24 bits. The library must not truncate a larger number. */
ROW_JOB("5.6", "modify, query, reg and unreg refuse an unknown number with EINVAL")
{
	const uint32_t unknown[] = {
		0, 1, 0x7fffff, 0xfffffe, 0xffffff, 0x1000000, 0xffffffff, qpn | 0x1000000
	};

	for (unsigned i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		every_rcv_verb_refuses(a, D, unknown[i]);
	expect_ok(close_domain(b, D));
}

ROW("5.6", "modify, query, reg and unreg refuse an RC QP or an XRC QP with EINVAL")
{
	struct actor *a = with_domain();

	every_rcv_verb_refuses(a, D, number_of(create_rc_qp(a)));
	every_rcv_verb_refuses(a, D, number_of(create_qp(a, 0, D)));
}

ROW_JOB("5.6", "modify, query, reg and unreg refuse another domain's receive QP with EINVAL")
{
	struct actor *other = actor_open(1);

	expect_ok(open_domain(a, 1, FILE_B, O_CREAT));
	expect_ok(open_domain(a, 2, PRIVATE, O_CREAT));
	expect_ok(open_elsewhere(a, 3, OTHER_DEVICE));
	expect_ok(open_domain(b, 1, FILE_B, O_CREAT));
	for (int dom = 1; dom <= 3; dom++)
		every_rcv_verb_refuses(a, dom, qpn);
	every_rcv_verb_refuses(b, 1, qpn);
	expect_ok(open_domain(other, D, FILE_A, O_CREAT));
	every_rcv_verb_refuses(other, D, qpn);
	expect_ok(close_domain(b, 1));
	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
}

ROW_CALL("5.1", "open with a NULL context is EINVAL",
	 expect(open_elsewhere(actor_open(0), D, NOWHERE), EINVAL))

ROW_JOB("1.3", "create, modify and query of a receive QP refuse NULL arguments with EINVAL")
{
	expect(ask(b, create_rcv_qp, .flags = NULL_INIT_ATTR), EINVAL);
	expect(ask(b, create_rcv_qp, .flags = NULL_QP_NUM), EINVAL);
	expect_ok(close_domain(b, D));	/* so no QP was created */
	expect(ask(a, modify_rcv_qp, .number = qpn, .mask = MASK_INIT, .flags = NULL_ATTR), EINVAL);
	expect(ask(a, query_rcv_qp, .number = qpn, .flags = NULL_ATTR), EINVAL);
	expect(ask(a, query_rcv_qp, .number = qpn, .flags = NULL_INIT_ATTR), EINVAL);
	expect(ask(a, query_rcv_qp, .dom = NIL, .flags = NULL_ATTR | NULL_INIT_ATTR), EINVAL);
}

ROW("1.3", "modify and query of an XRC QP refuse NULL arguments with EINVAL")
{
	struct actor *a = with_domain();

	expect_ok(create_qp(a, 0, D));
	expect(ask(a, modify_qp, .flags = NULL_ATTR, .mask = MASK_INIT), EINVAL);
	expect(ask(a, query_qp, .flags = NULL_ATTR), EINVAL);
	expect(ask(a, query_qp, .flags = NULL_INIT_ATTR), EINVAL);
	expect(ask(a, query_qp, .flags = NULL_ATTR | NULL_INIT_ATTR), EINVAL);
	expect_ok(query_qp(a, 0, 0));
}

/* "Without an XRC driver" of contract 1.3: a device without XRC, and no device at all. */
#undef GROUP
#define GROUP "no_xrc"

ROW("5.1", "open on a device without XRC is NULL and ENOSYS")
{
	struct actor *a = actor_open(0);

	expect(open_domain(a, D, FILE_A, O_CREAT), ENOSYS);
	expect(open_domain(a, D, PRIVATE, O_CREAT), ENOSYS);
}

/* No domain can be opened, so a program can only pass NULL. */
ROW_CALL("1.3", "on a device without XRC every other verb refuses a NULL domain with EINVAL",
	 every_verb_refuses(actor_open(0), NIL, UNKNOWN_QPN))

ROW("1.3", "a device without XRC has ordinary SRQs and RC QPs")
{
	struct actor *a = actor_open(0);

	expect(open_domain(a, D, PRIVATE, O_CREAT), ENOSYS);
	expect_ret(create_plain_srq(a, 1), 0);
	expect_ret(post_recv(a, 1, 0), 0);
	expect_ret(create_rc_qp(a), 0);
	expect_ret(destroy_qp(a, 1), 0);
	expect_ret(destroy_srq(a, 1), 0);
}

#undef GROUP
#define GROUP "no_device"

ROW_CALL("1.3", "no device can be opened", must(ask(actor_new(), open_device).ret != 0))

/*
 * The library may be preloaded into every process of a job, so it must not crash without a device.
 */
ROW("1.3", "without a device every verb refuses NULL with EINVAL")
{
	struct actor *a = actor_new();

	expect(open_elsewhere(a, D, NOWHERE), EINVAL);
	every_verb_refuses(a, NIL, UNKNOWN_QPN);
}
