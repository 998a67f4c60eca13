/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 1.3 and 5: every verb with a domain that is NULL, was never opened, or is closed. Some
 * of the old functions crashed then, and no program relies on a crash. The others returned EINVAL.
 */

#include "row.h"

static struct result try_create_srq(struct actor *a, int dom)
{
	return create_srq(a, 0, dom);
}

static struct result try_create_qp(struct actor *a, int dom)
{
	return create_qp(a, 0, dom);
}

static struct result try_modify(struct actor *a, int dom)
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT, a, 0);

	return modify_rcv_qp(a, dom, 0x800001, &attr, MASK_INIT);
}

static struct result try_query(struct actor *a, int dom)
{
	return query_rcv_qp(a, dom, 0x800001, IBV_QP_STATE);
}

static struct result try_reg(struct actor *a, int dom)
{
	return reg(a, dom, 0x800001);
}

static struct result try_unreg(struct actor *a, int dom)
{
	return unreg(a, dom, 0x800001);
}

/* Three functions per verb. */
#define DOMAIN_CASES(name, verb) \
	static void name##_null(void) \
	{ \
		expect(verb(actor_open(0), NIL), EINVAL); \
	} \
	static void name##_unknown(void) \
	{ \
		expect(verb(actor_open(0), WILD), EINVAL); \
	} \
	static void name##_closed(void) \
	{ \
		struct actor *a = with_domain(); \
 \
		expect_ok(close_domain(a, D)); \
		expect(verb(a, D), EINVAL); \
	}

DOMAIN_CASES(srq, try_create_srq)
DOMAIN_CASES(qp, try_create_qp)
DOMAIN_CASES(create, create_rcv_qp)
DOMAIN_CASES(modify, try_modify)
DOMAIN_CASES(query, try_query)
DOMAIN_CASES(reg, try_reg)
DOMAIN_CASES(unreg, try_unreg)

static void open_null_context(void)
{
	expect(open_domain_as(actor_open(0), D, row_file(0), O_CREAT, NULL_CONTEXT), EINVAL);
}

static void create_null_init_attr(void)
{
	expect(create_rcv_qp_as(with_domain(), D, NULL_INIT_ATTR), EINVAL);
}

static void create_null_number(void)
{
	struct actor *a = with_domain();

	expect(create_rcv_qp_as(a, D, NULL_QP_NUM), EINVAL);
	expect_ok(close_domain(a, D));	/* so no QP was created */
}

static void modify_null_attr(void)
{
	struct request request = {
		.op = OP_MODIFY_RCV_QP, .dom = D, .mask = MASK_INIT, .flags = NULL_ATTR
	};
	struct actor *a = with_domain();

	request.number = made_by(a);
	expect(actor_ask(a, &request), EINVAL);
}

static void query_null_attr(void)
{
	struct actor *a = with_domain();
	uint32_t qpn = made_by(a);

	expect(query_rcv_qp_as(a, D, qpn, NULL_ATTR), EINVAL);
}

static void query_null_init_attr(void)
{
	struct actor *a = with_domain();
	uint32_t qpn = made_by(a);

	expect(query_rcv_qp_as(a, D, qpn, NULL_INIT_ATTR), EINVAL);
}

static void query_nulls(void)
{
	expect(query_rcv_qp_as(actor_open(0), NIL, 0, NULL_ATTR | NULL_INIT_ATTR), EINVAL);
}

static const struct row rows[] = {
	{ "5.1", "open with a NULL context is EINVAL", open_null_context },
	{ "5.3", "create_xrc_srq with a NULL domain is EINVAL", srq_null },
	{ "5.3", "create_xrc_srq with an unknown domain is EINVAL", srq_unknown },
	{ "5.3", "create_xrc_srq with a closed domain is EINVAL", srq_closed },
	{ "5.3", "an XRC QP with a NULL domain is EINVAL", qp_null },
	{ "5.3", "an XRC QP with an unknown domain is EINVAL", qp_unknown },
	{ "5.3", "an XRC QP with a closed domain is EINVAL", qp_closed },
	{ "1.3", "create_xrc_rcv_qp with a NULL domain is EINVAL", create_null },
	{ "5.4", "create_xrc_rcv_qp with an unknown domain is EINVAL", create_unknown },
	{ "5.4", "create_xrc_rcv_qp with a closed domain is EINVAL", create_closed },
	{ "1.3", "create_xrc_rcv_qp with a NULL init_attr is EINVAL", create_null_init_attr },
	{ "1.3", "create_xrc_rcv_qp with nowhere to put the number is EINVAL", create_null_number },
	{ "1.3", "modify_xrc_rcv_qp with a NULL domain is EINVAL", modify_null },
	{ "5.4", "modify_xrc_rcv_qp with an unknown domain is EINVAL", modify_unknown },
	{ "5.4", "modify_xrc_rcv_qp with a closed domain is EINVAL", modify_closed },
	{ "1.3", "modify_xrc_rcv_qp with a NULL attr is EINVAL", modify_null_attr },
	{ "1.3", "query_xrc_rcv_qp with a NULL domain is EINVAL", query_null },
	{ "5.5", "query_xrc_rcv_qp with an unknown domain is EINVAL", query_unknown },
	{ "5.5", "query_xrc_rcv_qp with a closed domain is EINVAL", query_closed },
	{ "1.3", "query_xrc_rcv_qp with a NULL attr is EINVAL", query_null_attr },
	{ "1.3", "query_xrc_rcv_qp with a NULL init_attr is EINVAL", query_null_init_attr },
	{ "1.3", "query_xrc_rcv_qp with only NULLs is EINVAL", query_nulls },
	{ "1.3", "reg_xrc_rcv_qp with a NULL domain is EINVAL", reg_null },
	{ "5.6", "reg_xrc_rcv_qp with an unknown domain is EINVAL", reg_unknown },
	{ "5.6", "reg_xrc_rcv_qp with a closed domain is EINVAL", reg_closed },
	{ "1.3", "unreg_xrc_rcv_qp with a NULL domain is EINVAL", unreg_null },
	{ "5.6", "unreg_xrc_rcv_qp with an unknown domain is EINVAL", unreg_unknown },
	{ "5.6", "unreg_xrc_rcv_qp with a closed domain is EINVAL", unreg_closed },
};

GROUP(bad_input);
