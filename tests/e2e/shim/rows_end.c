/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.7: shared objects of a process that ends without destroying them, and the order in
 * which to destroy them.
 */

#define GROUP "end"

#include "row.h"

ROW_JOB("5.7", "the QP survives the end of its creator", EACH_END)
{
	bring(a, RCV_QP(qpn), IBV_QPS_RTR, a, PEER_QPN);
	expect_ok(reg(b, D, qpn));
	actor_end(a, row_end);
	expect_rcv_state(b, qpn, IBV_QPS_RTR);
	expect_ok(reg(c, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect_rcv_state(c, qpn, IBV_QPS_RTR);
	expect_ok(unreg(c, D, qpn));
	expect_soon(query_rcv_qp(c, D, qpn, 0), EINVAL);
}

ROW_JOB("5.7", "the QP survives the end of a registrant", EACH_END)
{
	bring(a, RCV_QP(qpn), IBV_QPS_RTR, a, PEER_QPN);
	expect_ok(reg(b, D, qpn));
	actor_end(b, row_end);
	expect_rcv_state(a, qpn, IBV_QPS_RTR);
	expect_ok(unreg(a, D, qpn));
	expect_soon(query_rcv_qp(a, D, qpn, 0), EINVAL);
	expect_ok(close_domain(a, D));
}

ROW_JOB("5.7", "the end of the last registrant destroys the QP", EACH_END)
{
	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect_rcv_state(c, qpn, IBV_QPS_RESET);
	actor_end(b, row_end);
	expect_soon(query_rcv_qp(c, D, qpn, 0), EINVAL);
	expect(reg(c, D, qpn), EINVAL);
	expect(reg(a, D, qpn), EINVAL);
}

/*
 * O_EXCL without O_CREAT opens no domain. It fails with EINVAL if there is one, with EAGAIN if not.
 */
ROW("5.7", "the end of the last user destroys the domain with its objects", EACH_END)
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	new_rcv_qp_in_rtr(a);
	expect(open_domain(b, D, FILE_A, O_EXCL), EINVAL);
	actor_end(a, row_end);
	expect_soon(open_domain(b, D, FILE_A, O_EXCL), EAGAIN);
}

ROW_JOB("5.7", "after the end of one process the others can close the domain", EACH_END)
{
	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	expect_ok(reg(b, D, qpn));
	actor_end(a, row_end);
	expect(close_domain(b, D), EBUSY);
	expect_ok(unreg(b, D, qpn));
	expect_ok(close_domain(b, D));
}

ROW_JOB("5.7", "a device opened again starts without registrations")
{
	expect_ok(create_srq(a, 0, D));
	expect_ok(reg(b, D, qpn));
	actor_end(a, BY_CLOSE_DEVICE);
	expect_ret(ask(a, open_device), 0);
	expect_ok(open_domain(a, D, FILE_A, 0));
	expect(unreg(a, D, qpn), EINVAL);
	expect_ok(reg(a, D, qpn));
	expect_ok(create_srq(a, 0, D));
	expect_ret(post_recv(a, 0, 0), 0);
	expect_ok(unreg(b, D, qpn));
	expect_ok(query_rcv_qp(a, D, qpn, 0));
}

ROW_JOB("5.7", "a forked child that exits leaves all registrations")
{
	expect_ok(reg(b, D, qpn));
	expect_ret(ask(a, fork_child), 0);
	expect_ret(ask(b, fork_child), 0);
	expect_ok(query_rcv_qp(a, D, qpn, 0));
	expect_ok(unreg(a, D, qpn));
	expect_ok(query_rcv_qp(b, D, qpn, 0));
	expect_ok(unreg(b, D, qpn));
	expect(query_rcv_qp(b, D, qpn, 0), EINVAL);
}

/* If an object or a refused call still held the PD or a CQ, destroying these would fail. */
ROW("5.7", "when a program destroys its objects in order, every verb returns 0")
{
	struct request srq = REQUEST(create_srq, SRQ_USUAL), qp = REQUEST(create_qp, QP_USUAL);
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	srq.srq_attr.max_sge = 64;	/* OFED's limit, above the driver's */
	expect(actor_ask(a, srq), EINVAL);
	expect(create_srq(a, 0, WILD), EINVAL);
	qp.cap.max_inline_data = 0xffffffff;	/* GASNet tries smaller sizes after EINVAL */
	expect(actor_ask(a, qp), EINVAL);
	expect(create_qp(a, 0, NIL), EINVAL);
	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	expect_ok(destroy_qp(a, 0));
	expect_ok(destroy_srq(a, 0));
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
	expect_ret(ask(a, destroy_rest), 0);
}
