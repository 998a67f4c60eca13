/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.1 and 5.2: what ibv_open_xrc_domain opens, joins and refuses; what keeps a domain from
 * being closed.
 */

#define GROUP "open"

#include "row.h"

/* @b queries a receive QP that @a creates. */
static struct result query_across(struct actor *a, struct actor *b, int b_dom)
{
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(query_rcv_qp(a, D, qpn, IBV_QP_STATE));
	return query_rcv_qp(b, b_dom, qpn, IBV_QP_STATE);
}

#define same_domain(a, b, b_dom) expect_ok(query_across(a, b, b_dom))
#define other_domain(a, b, b_dom) expect(query_across(a, b, b_dom), EINVAL)

ROW("5.1", "an open with fd -1 succeeds, whatever oflag is")
{
	static const int oflags[] = {
		0, O_CREAT, O_EXCL, O_CREAT | O_EXCL, O_RDWR | O_CREAT | O_TRUNC, -1
	};
	struct actor *a = actor_open(0);

	for (unsigned i = 0; i < sizeof(oflags) / sizeof(oflags[0]); i++)
		expect_ok(open_domain(a, (int)i, PRIVATE, oflags[i]));
}

ROW("5.1", "fd -1 is a new domain each time")
{
	struct actor *a = with_private(), *b = with_private();

	expect_ok(open_domain(a, 1, PRIVATE, O_CREAT));
	other_domain(a, a, 1);
	other_domain(a, b, D);
	expect(reg(b, D, new_rcv_qp(a)), EINVAL);
}

ROW("5.1", "a closed fd is EBADF")
{
	struct actor *a = actor_open(0);

	expect(open_domain(a, D, CLOSED, O_CREAT), EBADF);
	expect(open_domain(a, D, CLOSED, 0), EBADF);
}

ROW("5.1", "a missing domain without O_CREAT is EAGAIN")
{
	struct actor *a = actor_open(0);

	expect(open_domain(a, D, FILE_A, 0), EAGAIN);
	expect(open_domain(a, D, FILE_A, O_RDWR), EAGAIN);
	expect(open_domain(a, D, FILE_A, O_EXCL), EAGAIN);
}

ROW("5.1", "O_CREAT makes a missing domain, with O_EXCL too")
{
	struct actor *a = actor_open(0);

	must(open_domain(a, D, FILE_A, O_CREAT).as_given);
	expect_ok(open_domain(a, 1, FILE_B, O_CREAT | O_EXCL));
}

ROW("5.1", "O_EXCL on an existing domain is EINVAL, with O_CREAT too")
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect(open_domain(b, D, FILE_A, O_EXCL), EINVAL);
	expect(open_domain(a, 1, FILE_A, O_EXCL), EINVAL);
	expect(open_domain(b, D, FILE_A, O_CREAT | O_EXCL), EINVAL);
	expect(open_domain(a, 1, FILE_A, O_CREAT | O_EXCL), EINVAL);
}

ROW("5.1", "O_CREAT and oflag 0 join an existing domain")
{
	struct actor *a = with_domain(), *b = actor_open(0), *c = actor_open(0);

	must(open_domain(b, D, FILE_A, O_CREAT).as_given);
	same_domain(a, b, D);
	expect_ok(open_domain(c, D, FILE_A, 0));
	same_domain(c, a, D);
}

ROW("5.1", "a second handle of one inode is the same domain")
{
	struct actor *a = with_domain();

	expect_ok(open_domain(a, 1, FILE_A, 0));
	same_domain(a, a, 1);
	expect_ok(close_domain(a, 1));
	expect(close_domain(a, D), EBUSY);
}

ROW("5.1", "two files are two domains")
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect(open_domain(b, D, FILE_B, 0), EAGAIN);
	expect_ok(open_domain(b, D, FILE_B, O_CREAT));
	other_domain(a, b, D);
}

/*
 * GASNet unlinks its file right after the open. The domain holds the inode, so a new file of that
 * name belongs to no domain.
 */
ROW("5.1", "two names of one file are one domain, and both may be unlinked")
{
	struct actor *a = with_domain(), *b = actor_open(0), *c = actor_open(0);

	must(!link(row_file(FILE_A), row_file(FILE_B)));
	expect_ok(open_domain(b, D, FILE_B, 0));
	same_domain(a, b, D);
	must(!unlink(row_file(FILE_A)) && !unlink(row_file(FILE_B)));
	same_domain(a, b, D);
	expect(open_domain(c, D, FILE_A, 0), EAGAIN);
}

ROW("5.1", "a read-only fd and a write-only fd open the same domain")
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect_ok(ask(b, open_domain, .oflag = O_CREAT, .flags = WRITE_ONLY));
	same_domain(a, b, D);
}

ROW("5.1", "the same inode on another device is another domain")
{
	struct actor *a = with_domain(), *b = actor_open(1);

	expect(open_domain(b, D, FILE_A, 0), EAGAIN);
	expect_ok(open_domain(b, D, FILE_A, O_CREAT | O_EXCL));
	other_domain(a, b, D);
}

ROW("5.1", "closing the last handle destroys the domain")
{
	struct actor *a = with_domain(), *b = with_domain();

	expect_ok(close_domain(a, D));
	expect_ok(open_domain(a, D, FILE_A, 0));
	expect_ok(close_domain(a, D));
	expect_ok(close_domain(b, D));
	expect(open_domain(b, D, FILE_A, 0), EAGAIN);
	expect_ok(open_domain(b, D, FILE_A, O_CREAT | O_EXCL));
}

#undef GROUP
#define GROUP "close"

/* After a refused close the domain works. */
static void each_object_keeps(struct actor *a)
{
	uint32_t qpn;

	expect_ok(create_srq(a, 0, D));
	expect(close_domain(a, D), EBUSY);
	expect_ok(destroy_srq(a, 0));
	expect_ok(create_qp(a, 0, D));
	expect(close_domain(a, D), EBUSY);
	expect_ok(destroy_qp(a, 0));
	qpn = new_rcv_qp(a);
	expect(close_domain(a, D), EBUSY);
	expect(close_domain(a, D), EBUSY);
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
}

ROW_CALL("5.2", "closing a domain with an SRQ, an XRC QP or a receive QP is EBUSY",
	 each_object_keeps(with_domain()))
ROW_CALL("5.2", "closing a private domain with an SRQ, an XRC QP or a receive QP is EBUSY",
	 each_object_keeps(with_private()))

static void expect_both_busy(struct actor *a)
{
	expect(close_domain(a, D), EBUSY);
	expect(close_domain(a, 1), EBUSY);
}

ROW("5.2", "every handle of an inode is busy until its last SRQ and XRC QP are destroyed")
{
	struct actor *a = with_domain();

	expect_ok(open_domain(a, 1, FILE_A, O_CREAT));
	expect_ok(create_qp(a, 0, D));
	expect_ok(create_qp(a, 1, 1));
	expect_ok(create_srq(a, 0, D));
	expect_ok(destroy_qp(a, 0));
	expect_both_busy(a);
	expect_ok(destroy_qp(a, 1));
	expect_both_busy(a);
	expect_ok(create_qp(a, 1, 1));
	expect_ok(destroy_srq(a, 0));
	expect_both_busy(a);
	expect_ok(destroy_qp(a, 1));
	expect_ok(close_domain(a, 1));
	expect_ok(close_domain(a, D));
}

/* A registration belongs to the handle that it was made through. */
ROW_JOB("5.2", "a second handle without registrations closes")
{
	expect_ok(open_domain(a, 1, FILE_A, O_CREAT));
	expect_ok(close_domain(a, 1));
	expect(close_domain(a, D), EBUSY);
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
}

ROW("5.2", "objects of a private domain do not keep another one busy")
{
	struct actor *a = with_private();

	expect_ok(open_domain(a, 1, PRIVATE, O_CREAT));
	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	new_rcv_qp(a);
	expect_ok(close_domain(a, 1));
	expect(close_domain(a, D), EBUSY);
}

ROW_JOB("5.2", "objects of other processes do not keep a domain busy")
{
	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	expect_ok(close_domain(b, D));
	expect_ok(query_rcv_qp(a, D, qpn, IBV_QP_STATE));
	expect_ok(reg(c, D, qpn));
}
