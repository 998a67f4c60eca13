/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Contract 5.6: registrations with a receive QP, which keep it alive. */

#define GROUP "reg"

#include "row.h"

ROW_JOB("5.6", "each reg returns 0, and one unreg undoes them all")
{
	for (int i = 0; i < 3; i++)
		expect_ok(reg(b, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
}

ROW_JOB("5.6", "each reg by the creator returns 0, and one unreg undoes them and the creation")
{
	expect_ok(reg(b, D, qpn));
	expect_ok(reg(a, D, qpn));
	expect_ok(reg(a, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect(unreg(a, D, qpn), EINVAL);
	expect_ok(close_domain(a, D));
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(b, D, qpn));
	expect_ok(close_domain(b, D));
}

ROW_JOB("5.6", "the creator may register again after its unreg")
{
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

ROW_JOB("5.6", "the last unreg destroys the QP for every process")
{
	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect(reg(a, D, qpn), EINVAL);
	expect(reg(b, D, qpn), EINVAL);
	expect(reg(c, D, qpn), EINVAL);
	expect(query_rcv_qp(c, D, qpn, 0), EINVAL);
	expect(modify_rcv_qp(c, D, qpn, attr_to(IBV_QPS_INIT, a), MASK_INIT), EINVAL);
	expect(unreg(a, D, qpn), EINVAL);
}

ROW_JOB("5.6", "a former registrant may query a receive QP until its last unreg")
{
	expect_ok(reg(b, D, qpn));
	expect_ok(reg(c, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(c, D, qpn));
	expect(query_rcv_qp(b, D, qpn, 0), EINVAL);
}

ROW_JOB("5.6", "unreg without registration is EINVAL")
{
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
}

ROW_JOB("5.6", "unreg of one QP leaves the registrations of other QPs")
{
	uint32_t qpns[20];

	for (int i = 0; i < 20; i++) {
		qpns[i] = new_rcv_qp(i % 2 ? b : c);
		expect_ok(reg(i % 2 ? c : b, D, qpns[i]));
	}
	for (int i = 0; i < 20; i++)
		expect_ok(unreg(b, D, qpns[i]));
	expect_ok(close_domain(b, D));
	for (int i = 0; i < 20; i++) {
		expect_ok(query_rcv_qp(c, D, qpns[i], 0));
		expect_ok(unreg(c, D, qpns[i]));
		expect(query_rcv_qp(c, D, qpns[i], 0), EINVAL);
	}
	expect_ok(close_domain(c, D));
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

ROW_JOB("5.6", "a registration keeps only the domain handle busy that was passed to reg")
{
	expect_ok(open_domain(b, 1, FILE_A, 0));
	expect_ok(reg(b, 1, qpn));
	expect_ok(close_domain(b, D));
	expect(close_domain(b, 1), EBUSY);
	expect_ok(unreg(b, 1, qpn));
	expect_ok(close_domain(b, 1));
}

/*
 * Where the kernel refuses the OPEN_QP command, only the opened device that created a receive QP
 * can use it.
 */
#undef GROUP
#define GROUP "no_open_qp"

ROW_JOB("5.6", "the creator modifies, queries, registers and unregisters")
{
	bring(a, RCV_QP(qpn), IBV_QPS_RTR, a, PEER_QPN);
	expect_rcv_state(a, qpn, IBV_QPS_RTR);
	expect_ok(reg(a, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect(unreg(a, D, qpn), EINVAL);
}

ROW_JOB("5.6", "reg by another opened device is ENOSYS, the second time too")
{
	expect(reg(b, D, qpn), ENOSYS);
	expect(reg(b, D, qpn), ENOSYS);
}

ROW_JOB("5.5", "modify and query by another opened device are ENOSYS, the second time too")
{
	for (int i = 0; i < 2; i++) {
		expect(modify_rcv_qp(b, D, qpn, attr_to(IBV_QPS_INIT, b), MASK_INIT), ENOSYS);
		expect(query_rcv_qp(b, D, qpn, 0), ENOSYS);
	}
	expect_rcv_state(a, qpn, IBV_QPS_RESET);
}

ROW_JOB("5.6", "after a refused reg, unreg is EINVAL and the domains close")
{
	expect(unreg(b, D, qpn), EINVAL);
	expect(reg(b, D, qpn), ENOSYS);
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(close_domain(b, D));
	expect(close_domain(a, D), EBUSY);
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
}

/* Only another opened device would need OPEN_QP; a second handle of the domain does not. */
ROW_JOB("5.6", "the creator registers by a second handle of the domain")
{
	expect_ok(open_domain(a, 1, FILE_A, O_CREAT));
	expect_ok(reg(a, 1, qpn));
	expect_ok(query_rcv_qp(a, 1, qpn, 0));
	expect_ok(unreg(a, 1, qpn));
	expect(unreg(a, D, qpn), EINVAL);
}
