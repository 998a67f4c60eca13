/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 1.3 and 5: every verb with a domain that is NULL, was never opened, or is closed. Some
 * of the old functions crashed then, and no program relies on a crash. The others returned EINVAL.
 */

#define GROUP "bad_input"

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

#define WRONG_DOMAINS(what, verb, section_of_null, section) \
	ROW_CALL(section_of_null, what " with a NULL domain is EINVAL", \
		 expect(verb(actor_open(0), NIL), EINVAL)) \
	ROW_CALL(section, what " with an unknown domain is EINVAL", \
		 expect(verb(actor_open(0), WILD), EINVAL)) \
	ROW(section, what " with a closed domain is EINVAL") \
	{ \
		struct actor *a = with_domain(); \
 \
		expect_ok(close_domain(a, D)); \
		expect(verb(a, D), EINVAL); \
	}

WRONG_DOMAINS("create_xrc_srq", try_create_srq, "5.3", "5.3")
WRONG_DOMAINS("an XRC QP", try_create_qp, "5.3", "5.3")
WRONG_DOMAINS("create_xrc_rcv_qp", create_rcv_qp, "1.3", "5.4")
WRONG_DOMAINS("modify_xrc_rcv_qp", try_modify, "1.3", "5.4")
WRONG_DOMAINS("query_xrc_rcv_qp", try_query, "1.3", "5.5")
WRONG_DOMAINS("reg_xrc_rcv_qp", try_reg, "1.3", "5.6")
WRONG_DOMAINS("unreg_xrc_rcv_qp", try_unreg, "1.3", "5.6")

ROW_CALL("5.1", "open with a NULL context is EINVAL",
	 expect(open_domain_as(actor_open(0), D, row_file(0), O_CREAT, NULL_CONTEXT), EINVAL))
ROW_CALL("1.3", "create_xrc_rcv_qp with a NULL init_attr is EINVAL",
	 expect(create_rcv_qp_as(with_domain(), D, NULL_INIT_ATTR), EINVAL))

ROW("1.3", "create_xrc_rcv_qp with a NULL qp_num is EINVAL")
{
	struct actor *a = with_domain();

	expect(create_rcv_qp_as(a, D, NULL_QP_NUM), EINVAL);
	expect_ok(close_domain(a, D));	/* so no QP was created */
}

ROW("1.3", "modify_xrc_rcv_qp with a NULL attr is EINVAL")
{
	struct request request = {
		OPERATION(modify_rcv_qp), .dom = D, .mask = MASK_INIT, .flags = NULL_ATTR
	};
	struct actor *a = with_domain();

	request.number = new_rcv_qp(a);
	expect(actor_ask(a, request), EINVAL);
}

static void query_refused(unsigned flags)
{
	struct actor *a = with_domain();

	expect(query_rcv_qp_as(a, D, new_rcv_qp(a), flags), EINVAL);
}

ROW_CALL("1.3", "query_xrc_rcv_qp with a NULL attr is EINVAL", query_refused(NULL_ATTR))
ROW_CALL("1.3", "query_xrc_rcv_qp with a NULL init_attr is EINVAL", query_refused(NULL_INIT_ATTR))
ROW_CALL("1.3", "query_xrc_rcv_qp with only NULLs is EINVAL",
	 expect(query_rcv_qp_as(actor_open(0), NIL, 0, NULL_ATTR | NULL_INIT_ATTR), EINVAL))
