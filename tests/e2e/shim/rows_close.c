/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 5.2: what keeps a domain from being closed, and what does not. */

#define GROUP "close"

#include "row.h"

ROW("5.2", "closing a closed domain is EINVAL")
{
	struct actor *a = with_domain();

	expect_ok(close_domain(a, D));
	expect(close_domain(a, D), EINVAL);
}

ROW_CALL("5.2", "closing a NULL domain is EINVAL", expect(close_domain(actor_open(0), NIL), EINVAL))
ROW_CALL("5.2", "closing an unknown domain is EINVAL",
	 expect(close_domain(actor_open(0), WILD), EINVAL))

static void srq_keeps(struct actor *a)
{
	expect_ok(create_srq(a, 0, D));
	expect(close_domain(a, D), EBUSY);
	expect_ok(destroy_srq(a, 0));
	expect_ok(close_domain(a, D));
}

ROW_CALL("5.2", "closing a domain with an SRQ is EBUSY", srq_keeps(with_domain()))
ROW_CALL("5.2", "closing a private domain with an SRQ is EBUSY", srq_keeps(with_private()))

static void xrc_qp_keeps(struct actor *a)
{
	expect_ok(create_qp(a, 0, D));
	expect(close_domain(a, D), EBUSY);
	expect_ok(destroy_qp(a, 0));
	expect_ok(close_domain(a, D));
}

ROW_CALL("5.2", "closing a domain with an XRC QP is EBUSY", xrc_qp_keeps(with_domain()))
ROW_CALL("5.2", "closing a private domain with an XRC QP is EBUSY", xrc_qp_keeps(with_private()))

ROW("5.2", "closing a domain is EBUSY until its last SRQ and XRC QP are destroyed")
{
	struct actor *a = with_domain();

	expect_ok(create_qp(a, 0, D));
	expect_ok(create_qp(a, 1, D));
	expect_ok(create_srq(a, 0, D));
	expect_ok(destroy_qp(a, 0));
	expect(close_domain(a, D), EBUSY);
	expect_ok(destroy_srq(a, 0));
	expect(close_domain(a, D), EBUSY);
	expect_ok(destroy_qp(a, 1));
	expect_ok(close_domain(a, D));
}

ROW("5.2", "an SRQ keeps every handle of its inode busy")
{
	struct actor *a = with_domain();

	expect_ok(open_domain(a, 1, row_file(0), O_CREAT));
	expect_ok(create_srq(a, 0, D));
	expect(close_domain(a, 1), EBUSY);
	expect(close_domain(a, D), EBUSY);
	expect_ok(destroy_srq(a, 0));
	expect_ok(close_domain(a, 1));
	expect_ok(close_domain(a, D));
}

ROW("5.2", "an XRC QP keeps every handle of its inode busy")
{
	struct actor *a = with_domain();

	expect_ok(open_domain(a, 1, row_file(0), O_CREAT));
	expect_ok(create_qp(a, 0, 1));
	expect(close_domain(a, D), EBUSY);
	expect(close_domain(a, 1), EBUSY);
	expect_ok(destroy_qp(a, 0));
	expect_ok(close_domain(a, D));
	expect_ok(close_domain(a, 1));
}

static void rcv_qp_keeps(struct actor *a)
{
	uint32_t qpn = new_rcv_qp(a);

	expect(close_domain(a, D), EBUSY);
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
}

ROW_CALL("5.2", "closing the handle that created a receive QP is EBUSY",
	 rcv_qp_keeps(with_domain()))
ROW_CALL("5.2", "closing a private domain with a receive QP is EBUSY", rcv_qp_keeps(with_private()))

/* A registration belongs to the handle that it was made through. */
ROW("5.2", "a second handle without registrations closes")
{
	struct actor *a = with_domain();
	uint32_t qpn;

	expect_ok(open_domain(a, 1, row_file(0), O_CREAT));
	qpn = new_rcv_qp(a);
	expect_ok(close_domain(a, 1));
	expect(close_domain(a, D), EBUSY);
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
}

ROW("5.2", "objects of a private domain do not keep another one busy")
{
	struct actor *a = with_private();

	expect_ok(open_private(a, 1, O_CREAT));
	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	new_rcv_qp(a);
	expect_ok(close_domain(a, 1));
	expect(close_domain(a, D), EBUSY);
}

ROW("5.2", "objects of other processes do not keep a domain busy")
{
	struct actor *a = with_domain(), *b = with_domain(), *c = actor_open(0);
	uint32_t qpn = new_rcv_qp(b);

	expect_ok(create_srq(b, 0, D));
	expect_ok(create_qp(b, 0, D));
	expect_ok(close_domain(a, D));
	expect_ok(query_rcv_qp(b, D, qpn, IBV_QP_STATE));
	expect_ok(open_domain(c, D, row_file(0), 0));
	expect_ok(reg(c, D, qpn));
}

ROW("5.2", "a domain whose close was refused works, and closes later")
{
	struct actor *a = with_domain();

	expect_ok(create_srq(a, 0, D));
	expect(close_domain(a, D), EBUSY);
	expect(close_domain(a, D), EBUSY);
	expect_ok(create_srq(a, 1, D));
	expect_ok(create_qp(a, 0, D));
	expect_ok(unreg(a, D, new_rcv_qp(a)));
	expect_ok(destroy_srq(a, 0));
	expect_ok(destroy_srq(a, 1));
	expect_ok(destroy_qp(a, 0));
	expect_ok(close_domain(a, D));
}
