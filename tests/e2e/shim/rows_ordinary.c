/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 1.3, 2.1 and 3: everything but XRC works as without the library, and the ops table stays
 * the provider's.
 */

#define GROUP "ordinary"

#include <stdio.h>
#include <string.h>

#include "../emulated.h"
#include "row.h"
#include "wire.h"

static struct actor *with_xrc_objects(void)
{
	struct actor *a = with_domain();

	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	expect_ok(create_rcv_qp(a, D));
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
	expect_eq(r.number, 0);
	expect_facts(r, CONTEXT_MATCHES | PD_MATCHES | USER_CONTEXT_MATCHES | DOMAIN_MATCHES |
				CQ_MATCHES);
}

static void fill_srq(struct actor *a, int srq, uint32_t max_wr)
{
	for (uint32_t i = 0; i < max_wr; i++)
		expect_ret(post_recv(a, srq), 0);
	expect_that(post_recv(a, srq).ret != 0);
}

static struct result new_plain_srq(struct actor *a, int srq)
{
	struct result r = create_plain_srq(a, srq);

	expect_ret(r, 0);
	return r;
}

ROW("3", "an ordinary SRQ created before the first XRC SRQ takes max_wr receives")
{
	struct actor *a = actor_open(0);
	struct result plain = new_plain_srq(a, 1);

	expect_ok(open_domain(a, D, row_file(0), O_CREAT));
	expect_ok(create_srq(a, 0, D));
	fill_srq(a, 1, plain.srq_attr.max_wr);
	expect_ret(destroy_srq(a, 1), 0);
}

ROW("3", "an ordinary SRQ created after an XRC SRQ takes max_wr receives")
{
	struct actor *a = with_xrc_objects();
	struct result image;

	fill_srq(a, 1, new_plain_srq(a, 1).srq_attr.max_wr);
	/*
	 * ibv_query_srq of an XRC SRQ tells how many receives can be posted, even where the kernel
	 * was asked for more.
	 */
	image = query_srq(a, 0);
	expect_ret(image, 0);
	fill_srq(a, 0, image.srq_attr.max_wr);
	expect_ret(destroy_srq(a, 1), 0);
}

ROW("3", "an ordinary SRQ works after the last XRC SRQ is destroyed")
{
	struct actor *a = with_xrc_objects();

	expect_ok(destroy_srq(a, 0));
	fill_srq(a, 1, new_plain_srq(a, 1).srq_attr.max_wr);
	expect_ret(modify_srq(a, 1, 1), 0);
	expect_ret(destroy_srq(a, 1), 0);
}

static void qp_of_type(enum ibv_qp_type type, unsigned flags)
{
	struct request request = qp_request(1, NIL);
	struct actor *a = with_xrc_objects();
	struct result r;

	request.qp_type = type;
	request.flags = flags;
	r = actor_ask(a, request);
	expect_ret(r, 0);
	expect_eq(r.qp_type, type);
	expect_that(r.cap.max_recv_wr >= 7);
	expect_facts(r, CONTEXT_MATCHES | PD_MATCHES | USER_CONTEXT_MATCHES | CQ_MATCHES |
				SRQ_MATCHES);
	expect_ret(destroy_qp(a, 1), 0);
}

ROW("1.3", "RC, UC and UD QPs can be created with garbage in xrc_domain")
{
	qp_of_type(IBV_QPT_RC, GARBAGE);
	qp_of_type(IBV_QPT_UC, GARBAGE);
	qp_of_type(IBV_QPT_UD, GARBAGE);
}

ROW("2.1", "RC and UD QPs can be created with the 64-byte init_attr")
{
	qp_of_type(IBV_QPT_RC, SHORT_INIT_ATTR);
	qp_of_type(IBV_QPT_UD, SHORT_INIT_ATTR);
}

static struct result rc_qp_with_srq(struct actor *a, int srq, unsigned flags)
{
	struct request request = qp_request(1, NIL);

	request.qp_type = IBV_QPT_RC;
	request.srq = srq;
	request.flags = flags;
	return actor_ask(a, request);
}

ROW("2.1", "an RC QP with an SRQ can be created with the 64-byte init_attr")
{
	struct actor *a = with_xrc_objects();

	expect_ret(create_plain_srq(a, 1), 0);
	expect_ret(rc_qp_with_srq(a, 1, SHORT_INIT_ATTR), 0);
	expect_ret(destroy_qp(a, 1), 0);
	expect_ret(destroy_srq(a, 1), 0);
}

ROW("5.9", "an RC QP takes RC's masks, and RTR without MIN_RNR_TIMER fails")
{
	struct actor *a = with_xrc_objects();
	struct result made = create_plain_qp(a, 1, IBV_QPT_RC), r;
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR, a, made.number);

	expect_ret(made, 0);
	bring_qp(a, 1, IBV_QPS_INIT, a, made.number);
	expect_that(modify_qp(a, 1, &attr, MASK_RTR & ~IBV_QP_MIN_RNR_TIMER).ret != 0);
	bring_qp(a, 1, IBV_QPS_INIT, a, made.number);	/* INIT to INIT */
	expect_ret(modify_qp(a, 1, &attr, MASK_RTR), 0);
	expect_ret(query_qp(a, 1, IBV_QP_STATE), 0);
	r = query_qp(a, 1, ~0);
	expect_ret(r, 0);
	expect_eq(r.qp_type, IBV_QPT_RC);
	expect_eq(r.attr.qp_state, IBV_QPS_RTR);
	expect_eq(r.attr.min_rnr_timer, 12);
}

ROW("5.2", "ordinary objects do not keep a domain busy")
{
	struct actor *a = with_domain();

	expect_ret(create_plain_qp(a, 1, IBV_QPT_RC), 0);
	expect_ret(create_plain_srq(a, 1), 0);
	expect_ok(close_domain(a, D));
}

/* The library has replaced post_srq_recv in the receiver's context, which has an XRC SRQ too. */
ROW("3", "an RC QP receives through an ordinary SRQ")
{
	struct actor *a = actor_open(0), *b = actor_open(1);
	struct result a_qp = create_plain_qp(a, 1, IBV_QPT_RC), b_qp, r;

	expect_ret(a_qp, 0);
	expect_ok(open_domain(b, D, row_file(0), O_CREAT));
	expect_ok(create_srq(b, 0, D));
	expect_ret(create_plain_srq(b, 1), 0);
	b_qp = rc_qp_with_srq(b, 1, 0);
	expect_ret(b_qp, 0);
	bring_qp(b, 1, IBV_QPS_RTR, a, a_qp.number);
	bring_qp(a, 1, IBV_QPS_RTS, b, b_qp.number);
	expect_ret(post_recv(b, 1), 0);
	expect_ret(post_send(a, 1, 0, 500, 5), 0);
	r = send_completion(a);
	expect_ret(r, 0);
	expect_eq(r.wc.status, IBV_WC_SUCCESS);
	r = send_completion(b);	/* an RC QP's receives complete on its own CQ */
	expect_ret(r, 0);
	expect_eq(r.wc.status, IBV_WC_SUCCESS);
	expect_eq(r.wc.byte_len, 500);
	expect_eq(r.wc.qp_num, b_qp.number);
}

ROW_CALL("5.3", "an RC QP with an XRC SRQ is EINVAL",
	 expect(rc_qp_with_srq(with_xrc_objects(), 0, 0), EINVAL))

static bool slot_is(const char *text, const char *slot, const char *library)
{
	char word[64];

	snprintf(word, sizeof(word), "%s=%s", slot, library);
	return strstr(text, word);
}

static const char *provider_library(void)
{
	return emulated_is_mlx5() ? "libmlx5" : "libmlx4";
}

static void expect_provider_slots(const char *text)
{
	static const char *const slots[] = { "post_send", "post_recv", "poll_cq", "req_notify_cq" };
	const char *provider = provider_library();

	for (unsigned i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		if (!slot_is(text, slots[i], provider))
			row_fail(__FILE__, __LINE__, "%s is not %s's: %s", slots[i], provider,
				 text);
}

static struct result compare_ops(struct actor *a, enum place where)
{
	return actor_ask(a, (struct request){ OPERATION(compare_ops), .where = where });
}

static struct actor *with_remembered_ops(void)
{
	struct actor *a = actor_open(1);

	expect_ret(actor_ask(a, (struct request){ OPERATION(remember_ops) }), 0);
	return a;
}

static void use_every_object(struct actor *a)
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT, a, 0);
	uint32_t qpn;

	expect_ok(open_domain(a, D, row_file(1), O_CREAT));
	expect_ok(create_srq(a, 0, D));
	expect_ret(create_plain_srq(a, 1), 0);
	expect_ok(create_qp(a, 0, D));
	expect_ret(create_plain_qp(a, 1, IBV_QPT_RC), 0);
	expect_ret(post_recv(a, 0), 0);
	expect_ret(post_recv(a, 1), 0);
	qpn = new_rcv_qp(a);
	expect_ok(reg(a, D, qpn));
	expect_ok(modify_rcv_qp(a, D, qpn, &attr, MASK_INIT));
	expect_ok(query_rcv_qp(a, D, qpn, 0));
	expect_ok(modify_qp(a, 0, &attr, MASK_INIT));
	expect_ret(get_event(a, 0, DRAIN), EAGAIN);
	expect_ok(unreg(a, D, qpn));
}

ROW("3", "after use of every object, only post_srq_recv is the library's")
{
	struct actor *a = with_remembered_ops();
	struct result r;

	use_every_object(a);
	r = compare_ops(a, OWN);
	expect_provider_slots(r.text);
	expect_that(slot_is(r.text, "post_srq_recv", "libxrc-compat"));
	expect_that(strstr(r.text, "hooked"));
	if (strstr(r.text, "changed"))
		row_fail(__FILE__, __LINE__, "another slot is not as it was: %s", r.text);
}

static void expect_only_provider_ops(struct result r)
{
	expect_provider_slots(r.text);
	expect_that(slot_is(r.text, "post_srq_recv", provider_library()));
	if (strstr(r.text, "hooked") || strstr(r.text, "changed"))
		row_fail(__FILE__, __LINE__, "a slot is not as it was: %s", r.text);
}

ROW("3", "another context's ops are all the provider's")
{
	struct actor *a = with_remembered_ops();

	use_every_object(a);
	expect_only_provider_ops(compare_ops(a, SAME_DEVICE));
}

ROW("3", "without an XRC SRQ all ops are the provider's")
{
	struct actor *a = with_remembered_ops();

	expect_ok(open_domain(a, D, row_file(0), O_CREAT));
	expect_ok(create_qp(a, 0, D));
	expect_ok(create_rcv_qp(a, D));
	expect(create_srq(a, 0, WILD), EINVAL);
	expect_only_provider_ops(compare_ops(a, OWN));
}
