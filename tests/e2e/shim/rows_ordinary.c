/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 1.3, 2.1 and 3: everything but XRC works as without the library, and the ops table stays
 * the provider's.
 */

#define GROUP "ordinary"

#include "row.h"

static struct actor *with_xrc_objects(void)
{
	struct actor *a = with_domain();

	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	new_rcv_qp(a);
	return a;
}

/*
 * MVAPICH2 reads xrc_srq_num of ordinary SRQs too. The row skips the place where MLNX_OFED had the
 * number: in today's SRQ that is the driver's own memory, which libmlx4 need not clear.
 */
ROW("1.3", "an ordinary SRQ has number 0, no domain and no CQ")
{
	struct result r = create_plain_srq(with_xrc_objects(), 1);

	expect_ret(r, 0);
	must_eq(r.number, 0);
	must(r.as_given);
}

static void fill_srq(struct actor *a, int srq, struct result r)
{
	expect_ret(r, 0);
	for (uint32_t i = 0; i < r.srq_attr.max_wr; i++)
		expect_ret(post_recv(a, srq, 0), 0);
	must(post_recv(a, srq, 0).ret != 0);
}

ROW("3", "an ordinary SRQ created before the first XRC SRQ takes max_wr receives")
{
	struct actor *a = with_domain();
	struct result plain = create_plain_srq(a, 1);

	expect_ok(create_srq(a, 0, D));
	fill_srq(a, 1, plain);
	expect_ret(destroy_srq(a, 1), 0);
}

/*
 * ibv_query_srq of an XRC SRQ tells how many receives can be posted, even where the kernel was
 * asked for more.
 */
ROW("3", "SRQs of both kinds take max_wr receives, also after the last XRC SRQ is destroyed")
{
	struct actor *a = with_xrc_objects();

	fill_srq(a, 1, create_plain_srq(a, 1));
	fill_srq(a, 0, query_srq(a, 0));
	expect_ok(destroy_srq(a, 0));
	fill_srq(a, 2, create_plain_srq(a, 2));
	expect_ret(modify_srq(a, 2, 1), 0);
	expect_ret(destroy_srq(a, 2), 0);
	expect_ret(destroy_srq(a, 1), 0);
}

static void qp_of_type(struct actor *a, enum ibv_qp_type type, unsigned flags)
{
	struct result r = plain_qp(a, type, NIL, flags);

	expect_ret(r, 0);
	must_eq(r.qp_type, type);
	must(r.cap.max_recv_wr >= 7);
	must(r.as_given);
	expect_ret(destroy_qp(a, 1), 0);
}

ROW("1.3", "RC, UC and UD QPs can be created with garbage in xrc_domain")
{
	struct actor *a = with_xrc_objects();

	qp_of_type(a, IBV_QPT_RC, GARBAGE);
	qp_of_type(a, IBV_QPT_UC, GARBAGE);
	qp_of_type(a, IBV_QPT_UD, GARBAGE);
}

ROW("2.1", "RC and UD QPs, and RC QPs with an SRQ, can be created with the 64-byte init_attr")
{
	struct actor *a = with_xrc_objects();

	qp_of_type(a, IBV_QPT_RC, SHORT_INIT_ATTR);
	qp_of_type(a, IBV_QPT_UD, SHORT_INIT_ATTR);
	expect_ret(create_plain_srq(a, 1), 0);
	expect_ret(plain_qp(a, IBV_QPT_RC, 1, SHORT_INIT_ATTR), 0);
	expect_ret(destroy_qp(a, 1), 0);
	expect_ret(destroy_srq(a, 1), 0);
}

ROW("5.9", "an RC QP takes RC's masks, and RTR without MIN_RNR_TIMER fails")
{
	struct actor *a = with_xrc_objects();
	uint32_t qpn = number_of(create_rc_qp(a));
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR, a);
	struct result r;

	bring(a, QP(1), IBV_QPS_INIT, a, qpn);
	must(modify_qp(a, 1, attr, MASK_RTR & ~IBV_QP_MIN_RNR_TIMER).ret != 0);
	bring(a, QP(1), IBV_QPS_RTR, a, qpn);	/* INIT to INIT first */
	r = query_qp(a, 1, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER);
	expect_ret(r, 0);
	must_eq(r.qp_type, IBV_QPT_RC);
	must_eq(r.attr.qp_state, IBV_QPS_RTR);
	must_eq(r.attr.min_rnr_timer, 12);
}

ROW("5.2", "ordinary objects do not keep a domain busy")
{
	struct actor *a = with_domain();

	expect_ret(create_rc_qp(a), 0);
	expect_ret(create_plain_srq(a, 1), 0);
	expect_ok(close_domain(a, D));
}

/* The library has replaced post_srq_recv in the receiver's context, which has an XRC SRQ too. */
ROW("3", "an RC QP receives through an ordinary SRQ")
{
	struct actor *a = actor_open(1), *b = with_xrc_objects();
	uint32_t a_qpn = number_of(create_rc_qp(a)), b_qpn;
	struct result r;

	expect_ret(create_plain_srq(b, 1), 0);
	b_qpn = number_of(plain_qp(b, IBV_QPT_RC, 1, 0));
	bring(b, QP(1), IBV_QPS_RTR, a, a_qpn);
	bring(a, QP(1), IBV_QPS_RTS, b, b_qpn);
	expect_ret(post_recv(b, 1, 0), 0);
	expect_ret(post_send(a, 1, 0, 500, 5), 0);
	r = send_completion(a);
	expect_ret(r, 0);
	must_eq(r.wc.status, IBV_WC_SUCCESS);
	r = send_completion(b);	/* an RC QP's receives complete on its own CQ */
	expect_ret(r, 0);
	must_eq(r.wc.status, IBV_WC_SUCCESS);
	must_eq(r.wc.byte_len, 500);
	must_eq(r.wc.qp_num, b_qpn);
}

ROW_CALL("5.3", "an RC QP with an XRC SRQ is EINVAL",
	 expect(plain_qp(with_xrc_objects(), IBV_QPT_RC, 0, 0), EINVAL))

/* A context's ops table; at first, as when the device was opened, it is the provider's. */
static void expect_ops(struct actor *a, enum place where, bool hooked)
{
	struct result r = ask(a, ops, .where = where);

	must_eq(r.as_given, hooked);
	must_eq(r.changed_ops, hooked);
	must_eq(r.library_ops, hooked);
}

ROW("3", "without an XRC SRQ all ops are the provider's")
{
	struct actor *a = with_domain();

	expect_ok(create_qp(a, 0, D));
	new_rcv_qp(a);
	expect_ops(a, OWN, false);
}

ROW("3", "after use of every object, only post_srq_recv is the library's, and in this context only")
{
	struct ibv_qp_attr attr;
	struct actor *a = with_xrc_objects();
	uint32_t qpn = new_rcv_qp(a);

	attr = attr_to(IBV_QPS_INIT, a);
	expect_ret(create_plain_srq(a, 1), 0);
	expect_ret(create_rc_qp(a), 0);
	expect_ret(post_recv(a, 0, 0), 0);
	expect_ret(post_recv(a, 1, 0), 0);
	expect_ok(reg(a, D, qpn));
	expect_ok(modify_rcv_qp(a, D, qpn, attr, MASK_INIT));
	expect_ok(query_rcv_qp(a, D, qpn, 0));
	expect_ok(modify_qp(a, 0, attr, MASK_INIT));
	expect_ret(get_event(a, 0, NOTHING), EAGAIN);
	expect_ok(unreg(a, D, qpn));
	expect_ops(a, OWN, true);
	expect_ops(a, SAME_DEVICE, false);
}
