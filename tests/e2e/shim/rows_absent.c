/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 1.3, "no provider": a device without XRC, and no device at all. */

#include "row.h"

static void open_without_xrc(void)
{
	struct actor *a = actor_open(0);

	expect(open_domain(a, D, row_file(0), O_CREAT), ENOSYS);
	expect(open_private(a, D, O_CREAT), ENOSYS);
}

/* No domain can be opened, so a program can only pass NULL. */
static void verbs_without_xrc(void)
{
	struct actor *a = actor_open(0);

	expect(create_srq(a, 0, NIL), EINVAL);
	expect(create_qp(a, 0, NIL), EINVAL);
	expect(create_rcv_qp(a, NIL), EINVAL);
	expect(reg(a, NIL, 0x800001), EINVAL);
	expect(unreg(a, NIL, 0x800001), EINVAL);
	expect(close_domain(a, NIL), EINVAL);
}

static void rest_without_xrc(void)
{
	struct actor *a = actor_open(0);

	expect(open_private(a, D, O_CREAT), ENOSYS);
	expect_ret(create_plain_srq(a, 1), 0);
	expect_ret(post_recv(a, 1), 0);
	expect_ret(create_plain_qp(a, 1, IBV_QPT_RC), 0);
	expect_ret(destroy_qp(a, 1), 0);
	expect_ret(destroy_srq(a, 1), 0);
}

static void no_device(void)
{
	struct request open_device = { .op = OP_OPEN_DEVICE, .device = 0 };

	expect_that(actor_ask(actor_new(), &open_device).ret != 0);
}

/*
 * The library may be preloaded into every process of a job, so it must not crash without a device.
 */
static void verbs_without_device(void)
{
	struct actor *a = actor_new();

	expect(open_domain_as(a, D, row_file(0), O_CREAT, NULL_CONTEXT), EINVAL);
	expect(close_domain(a, NIL), EINVAL);
	expect(create_rcv_qp(a, NIL), EINVAL);
	expect(reg(a, NIL, 1), EINVAL);
	expect(unreg(a, NIL, 1), EINVAL);
	expect(query_rcv_qp(a, NIL, 1, 0), EINVAL);
}

static const struct row no_xrc_rows[] = {
	{ "1.3", "open on a device without XRC is NULL and ENOSYS", open_without_xrc },
	{ "1.3", "the other verbs have no domain then: EINVAL", verbs_without_xrc },
	{ "1.3", "everything but XRC works on it", rest_without_xrc },
};

static const struct row no_device_rows[] = {
	{ "1.3", "no device can be opened", no_device },
	{ "1.3", "without a device every verb says EINVAL", verbs_without_device },
};

const struct group no_xrc_group = { "no_xrc", no_xrc_rows,
				    sizeof(no_xrc_rows) / sizeof(no_xrc_rows[0]) };
const struct group no_device_group = {
	"no_device", no_device_rows, sizeof(no_device_rows) / sizeof(no_device_rows[0]),
};
