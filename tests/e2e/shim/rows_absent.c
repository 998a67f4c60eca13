/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 1.3, "no provider": a device without XRC, and no device at all. */

#define GROUP "no_xrc"

#include "row.h"

ROW("1.3", "open on a device without XRC is NULL and ENOSYS")
{
	struct actor *a = actor_open(0);

	expect(open_domain(a, D, row_file(0), O_CREAT), ENOSYS);
	expect(open_private(a, D, O_CREAT), ENOSYS);
}

/* No domain can be opened, so a program can only pass NULL. */
static void every_verb_refuses_null(struct actor *a)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	expect(close_domain(a, NIL), EINVAL);
	expect(create_srq(a, 0, NIL), EINVAL);
	expect(create_qp(a, 0, NIL), EINVAL);
	expect(create_rcv_qp(a, NIL), EINVAL);
	expect(modify_rcv_qp(a, NIL, 0x800001, &attr, MASK_INIT), EINVAL);
	expect(query_rcv_qp(a, NIL, 0x800001, 0), EINVAL);
	expect(reg(a, NIL, 0x800001), EINVAL);
	expect(unreg(a, NIL, 0x800001), EINVAL);
}

ROW_CALL("1.3", "on a device without XRC every other verb refuses a NULL domain with EINVAL",
	 every_verb_refuses_null(actor_open(0)))

ROW("1.3", "a device without XRC has ordinary SRQs and RC QPs")
{
	struct actor *a = actor_open(0);

	expect(open_private(a, D, O_CREAT), ENOSYS);
	expect_ret(create_plain_srq(a, 1), 0);
	expect_ret(post_recv(a, 1), 0);
	expect_ret(create_plain_qp(a, 1, IBV_QPT_RC), 0);
	expect_ret(destroy_qp(a, 1), 0);
	expect_ret(destroy_srq(a, 1), 0);
}

#undef GROUP
#define GROUP "no_device"

ROW_CALL("1.3", "no device can be opened", expect_that(open_device(actor_new(), 0).ret != 0))

/*
 * The library may be preloaded into every process of a job, so it must not crash without a device.
 */
ROW("1.3", "without a device every verb refuses NULL with EINVAL")
{
	struct actor *a = actor_new();

	expect(open_domain_as(a, D, row_file(0), O_CREAT, NULL_CONTEXT), EINVAL);
	every_verb_refuses_null(a);
}
