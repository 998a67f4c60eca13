/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 5.6: registrations with a receive QP, which keep it alive. */

#define GROUP "reg"

#include "row.h"

ROW("5.6", "each reg returns 0, and one unreg undoes them all")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	for (int i = 0; i < 3; i++)
		expect_ok(reg(b, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
}

ROW("5.6", "each reg by the creator returns 0, and one unreg undoes them and the creation")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(reg(a, D, qpn));
	expect_ok(reg(a, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect(unreg(a, D, qpn), EINVAL);
	expect_ok(query_rcv_qp(b, D, qpn, 0));
}

ROW("5.6", "the creator may close its domain after its unreg")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(b, D, qpn));
	expect_ok(close_domain(b, D));
}

ROW("5.6", "the creator may register again after its unreg")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect_ok(reg(a, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect_ok(query_rcv_qp(a, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
	expect(reg(b, D, qpn), EINVAL);
	expect(query_rcv_qp(a, D, qpn, 0), EINVAL);
	expect_ok(close_domain(a, D));
}

ROW("5.6", "the last unreg destroys the QP for every process")
{
	struct actor *a = with_domain(), *b = with_domain(), *c = with_domain();
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT, a, 0);
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect(reg(a, D, qpn), EINVAL);
	expect(reg(b, D, qpn), EINVAL);
	expect(reg(c, D, qpn), EINVAL);
	expect(query_rcv_qp(c, D, qpn, 0), EINVAL);
	expect(modify_rcv_qp(c, D, qpn, &attr, MASK_INIT), EINVAL);
	expect(unreg(a, D, qpn), EINVAL);
}

ROW("5.6", "a former registrant may query a receive QP until its last unreg")
{
	struct actor *a = with_domain(), *b = with_domain(), *c = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(reg(c, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(c, D, qpn));
	expect(query_rcv_qp(b, D, qpn, 0), EINVAL);
}

ROW("5.6", "unreg without registration is EINVAL")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
}

ROW("5.6", "reg and unreg of an unknown number are EINVAL")
{
	struct actor *a = with_domain();

	for (unsigned i = 0; i < UNKNOWN_QPNS; i++) {
		expect(reg(a, D, unknown_qpns[i]), EINVAL);
		expect(unreg(a, D, unknown_qpns[i]), EINVAL);
	}
	expect_ok(close_domain(a, D));
}

/* QP numbers have 24 bits. The library must not truncate a larger number. */
ROW("5.6", "a number with more than 24 bits is unknown")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect(reg(b, D, qpn | 0x1000000), EINVAL);
	expect(unreg(a, D, qpn | 0x1000000), EINVAL);
}

ROW("5.6", "reg and unreg of another kind of QP are EINVAL")
{
	struct actor *a = with_domain();
	struct result rc = create_plain_qp(a, 0, IBV_QPT_RC), xrc = create_qp(a, 1, D);

	expect_ret(rc, 0);
	expect_ok(xrc);
	expect(reg(a, D, rc.number), EINVAL);
	expect(unreg(a, D, rc.number), EINVAL);
	expect(reg(a, D, xrc.number), EINVAL);
	expect(unreg(a, D, xrc.number), EINVAL);
}

ROW("5.6", "reg in another domain is EINVAL")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(open_domain(b, 1, row_file(1), O_CREAT));
	expect_ok(open_private(b, 2, O_CREAT));
	expect(reg(b, 1, qpn), EINVAL);
	expect(reg(b, 2, qpn), EINVAL);
	expect_ok(close_domain(b, 1));
	expect_ok(close_domain(b, 2));
	expect_ok(reg(b, D, qpn));
}

ROW("5.6", "reg in another device's domain is EINVAL")
{
	struct actor *a = with_domain(), *b = actor_open(1);
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(open_domain(b, D, row_file(0), O_CREAT));
	expect(reg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
}

ROW("5.6", "unreg in another domain is EINVAL")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(open_domain(a, 1, row_file(1), O_CREAT));
	expect_ok(open_private(a, 2, O_CREAT));
	expect_ok(open_elsewhere(a, 3, row_file(0), OTHER_DEVICE));
	for (int dom = 1; dom <= 3; dom++)
		expect(unreg(a, dom, qpn), EINVAL);
	expect_ok(query_rcv_qp(a, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
}

ROW("5.6", "unreg of one QP leaves the registrations of other QPs")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpns[20];

	for (int i = 0; i < 20; i++) {
		qpns[i] = new_rcv_qp(i % 2 ? a : b);
		expect_ok(reg(i % 2 ? b : a, D, qpns[i]));
	}
	for (int i = 0; i < 20; i++)
		expect_ok(unreg(a, D, qpns[i]));
	expect_ok(close_domain(a, D));
	for (int i = 0; i < 20; i++) {
		expect_ok(query_rcv_qp(b, D, qpns[i], 0));
		expect_ok(unreg(b, D, qpns[i]));
		expect(query_rcv_qp(b, D, qpns[i], 0), EINVAL);
	}
	expect_ok(close_domain(b, D));
}

ROW("5.6", "a private domain has registrations too")
{
	struct actor *a = with_private();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(reg(a, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect(reg(a, D, qpn), EINVAL);
	expect_ok(close_domain(a, D));
}

ROW("5.6", "a registration keeps only the domain handle busy that was passed to reg")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(open_domain(b, 1, row_file(0), 0));
	expect_ok(reg(b, 1, qpn));
	expect_ok(close_domain(b, D));
	expect(close_domain(b, 1), EBUSY);
	expect_ok(unreg(b, 1, qpn));
	expect_ok(close_domain(b, 1));
}
