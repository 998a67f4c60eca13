/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 5.1: what ibv_open_xrc_domain opens, joins and refuses. */

#define GROUP "open"

#include "row.h"

static struct result query_across(struct actor *a, int a_dom, struct actor *b, int b_dom)
{
	struct result created = create_rcv_qp(a, a_dom);

	expect_ok(created);
	expect_ok(query_rcv_qp(a, a_dom, created.number, IBV_QP_STATE));
	return query_rcv_qp(b, b_dom, created.number, IBV_QP_STATE);
}

/* Expects that both handles are of one domain: @b can query a receive QP that @a creates. */
static void same_domain(struct actor *a, int a_dom, struct actor *b, int b_dom)
{
	expect_ok(query_across(a, a_dom, b, b_dom));
}

static void other_domain(struct actor *a, int a_dom, struct actor *b, int b_dom)
{
	expect(query_across(a, a_dom, b, b_dom), EINVAL);
}

ROW("5.1", "an open with fd -1 succeeds, whatever oflag is")
{
	static const int oflags[] = {
		0, O_CREAT, O_EXCL, O_CREAT | O_EXCL, O_RDWR | O_CREAT | O_TRUNC, -1
	};
	struct actor *a = actor_open(0);

	for (unsigned i = 0; i < sizeof(oflags) / sizeof(oflags[0]); i++)
		expect_ok(open_private(a, (int)i, oflags[i]));
}

ROW("5.1", "fd -1 is a new domain each time")
{
	struct actor *a = actor_open(0);

	expect_ok(open_private(a, 0, O_CREAT));
	expect_ok(open_private(a, 1, O_CREAT));
	other_domain(a, 0, a, 1);
}

ROW("5.1", "a receive QP of a private domain is unknown in another private domain")
{
	struct actor *a = with_private(), *b = with_private();

	expect(reg(b, D, new_rcv_qp(a)), EINVAL);
}

ROW("5.1", "a closed fd is EBADF")
{
	struct actor *a = actor_open(0);

	expect(open_domain_as(a, D, NULL, O_CREAT, FD_CLOSED), EBADF);
	expect(open_domain_as(a, D, NULL, 0, FD_CLOSED), EBADF);
}

ROW("5.1", "a missing domain without O_CREAT is EAGAIN")
{
	struct actor *a = actor_open(0);

	expect(open_domain(a, D, row_file(0), 0), EAGAIN);
	expect(open_domain(a, D, row_file(0), O_RDWR), EAGAIN);
}

ROW_CALL("5.1", "a missing domain with O_EXCL only is EAGAIN",
	 expect(open_domain(actor_open(0), D, row_file(0), O_EXCL), EAGAIN))

ROW("5.1", "O_CREAT makes a missing domain")
{
	struct result r = open_domain(actor_open(0), D, row_file(0), O_CREAT);

	expect_ok(r);
	expect_facts(r, CONTEXT_MATCHES);
}

ROW_CALL("5.1", "O_CREAT and O_EXCL make a missing domain",
	 expect_ok(open_domain(actor_open(0), D, row_file(0), O_CREAT | O_EXCL)))

ROW("5.1", "O_EXCL on an existing domain is EINVAL")
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect(open_domain(b, D, row_file(0), O_EXCL), EINVAL);
	expect(open_domain(a, 1, row_file(0), O_EXCL), EINVAL);
}

ROW("5.1", "O_CREAT and O_EXCL on an existing domain are EINVAL")
{
	struct actor *a = actor_open(0), *b = actor_open(0);

	expect_ok(open_domain(a, D, row_file(0), O_CREAT | O_EXCL));
	expect(open_domain(b, D, row_file(0), O_CREAT | O_EXCL), EINVAL);
	expect(open_domain(a, 1, row_file(0), O_CREAT | O_EXCL), EINVAL);
}

ROW("5.1", "O_CREAT joins an existing domain")
{
	struct actor *a = with_domain(), *b = actor_open(0);
	struct result r = open_domain(b, D, row_file(0), O_CREAT);

	expect_ok(r);
	expect_facts(r, CONTEXT_MATCHES);
	same_domain(a, D, b, D);
}

ROW("5.1", "oflag 0 joins an existing domain")
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect_ok(open_domain(b, D, row_file(0), 0));
	same_domain(b, D, a, D);
}

ROW("5.1", "a second handle of one inode is the same domain")
{
	struct actor *a = with_domain();

	expect_ok(open_domain(a, 1, row_file(0), 0));
	same_domain(a, 0, a, 1);
	expect_ok(close_domain(a, 1));
	expect(close_domain(a, 0), EBUSY);
}

ROW("5.1", "two files are two domains")
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect(open_domain(b, D, row_file(1), 0), EAGAIN);
	expect_ok(open_domain(b, D, row_file(1), O_CREAT));
	other_domain(a, D, b, D);
}

ROW("5.1", "two names of one file are one domain")
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect_that(!link(row_file(0), row_file(1)));
	expect_ok(open_domain(b, D, row_file(1), 0));
	same_domain(a, D, b, D);
}

ROW("5.1", "the file may be closed right after the open")
{
	struct actor *a = actor_open(0), *b = actor_open(0);

	expect_ok(open_domain_as(a, D, row_file(0), O_CREAT, FD_CLOSE_AFTER));
	expect_ok(open_domain_as(b, D, row_file(0), 0, FD_CLOSE_AFTER));
	same_domain(a, D, b, D);
}

/*
 * GASNet unlinks its file right after the open. The domain holds the inode, so a new file of that
 * name belongs to no domain.
 */
ROW("5.1", "the file may be unlinked while its domain is open")
{
	struct actor *a = actor_open(0), *b = actor_open(0), *c = actor_open(0);

	expect_ok(open_domain_as(a, D, row_file(0), O_CREAT, FD_CLOSE_AFTER));
	expect_ok(open_domain_as(b, D, row_file(0), O_CREAT, FD_CLOSE_AFTER));
	expect_that(!unlink(row_file(0)));
	same_domain(a, D, b, D);
	expect(open_domain(c, D, row_file(0), 0), EAGAIN);
}

ROW("5.1", "a read-only fd and a write-only fd open the same domain")
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect_ok(open_domain_as(b, D, row_file(0), O_CREAT, FD_WRITE_ONLY));
	same_domain(a, D, b, D);
}

ROW("5.1", "the same inode on another device is another domain")
{
	struct actor *a = with_domain(), *b = actor_open(1);

	expect(open_domain(b, D, row_file(0), 0), EAGAIN);
	expect_ok(open_domain(b, D, row_file(0), O_CREAT | O_EXCL));
	other_domain(a, D, b, D);
}

ROW("5.1", "closing the last handle destroys the domain")
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect_ok(open_domain(b, D, row_file(0), 0));
	expect_ok(close_domain(a, D));
	expect_ok(open_domain(a, D, row_file(0), 0));
	expect_ok(close_domain(a, D));
	expect_ok(close_domain(b, D));
	expect(open_domain(b, D, row_file(0), 0), EAGAIN);
	expect_ok(open_domain(b, D, row_file(0), O_CREAT | O_EXCL));
}
