/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.7: shared objects of a process that ends without destroying them, and the order in
 * which to destroy them.
 */

#define GROUP "end"

#include "row.h"

static void creator_ends(enum end how)
{
	struct actor *a = with_domain(), *b = with_domain(), *c = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_ok(reg(b, D, qpn));
	actor_end(a, how);
	expect_rcv_state(b, qpn, IBV_QPS_RTR);
	expect_ok(reg(c, D, qpn));
	expect_ok(unreg(b, D, qpn));
	expect_rcv_state(c, qpn, IBV_QPS_RTR);
	expect_ok(unreg(c, D, qpn));
	expect_soon(query_rcv_qp(c, D, qpn, 0), EINVAL);
}

ROW_CALL("5.7", "the QP survives a creator that closes its device", creator_ends(BY_CLOSE_DEVICE))
ROW_OF_PROCESSES("5.7", "the QP survives a creator that exits", creator_ends(BY_EXIT))
ROW_OF_PROCESSES("5.7", "the QP survives a creator that is killed", creator_ends(BY_KILL))

static void registrant_ends(enum end how)
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_ok(reg(b, D, qpn));
	actor_end(b, how);
	expect_rcv_state(a, qpn, IBV_QPS_RTR);
	expect_ok(unreg(a, D, qpn));
	expect_soon(query_rcv_qp(a, D, qpn, 0), EINVAL);
	expect_ok(close_domain(a, D));
}

ROW_CALL("5.7", "the QP survives a registrant that closes its device",
	 registrant_ends(BY_CLOSE_DEVICE))
ROW_OF_PROCESSES("5.7", "the QP survives a registrant that exits", registrant_ends(BY_EXIT))
ROW_OF_PROCESSES("5.7", "the QP survives a registrant that is killed", registrant_ends(BY_KILL))

static void last_registrant_ends(enum end how)
{
	struct actor *a = with_domain(), *b = with_domain(), *c = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_ok(reg(b, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect_rcv_state(c, qpn, IBV_QPS_RTR);
	actor_end(b, how);
	expect_soon(query_rcv_qp(c, D, qpn, 0), EINVAL);
	expect(reg(c, D, qpn), EINVAL);
	expect(reg(a, D, qpn), EINVAL);
}

ROW_CALL("5.7", "the QP is destroyed when its last registrant closes its device",
	 last_registrant_ends(BY_CLOSE_DEVICE))
ROW_OF_PROCESSES("5.7", "the QP is destroyed when its last registrant exits",
		 last_registrant_ends(BY_EXIT))
ROW_OF_PROCESSES("5.7", "the QP is destroyed when its last registrant is killed",
		 last_registrant_ends(BY_KILL))

/*
 * O_EXCL without O_CREAT opens no domain. It fails with EINVAL if there is one, with EAGAIN if not.
 */
static void last_user_ends(enum end how)
{
	struct actor *a = with_domain(), *b = actor_open(0);

	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	new_rcv_qp_in_rtr(a);
	expect(open_domain(b, D, row_file(0), O_EXCL), EINVAL);
	actor_end(a, how);
	expect_soon(open_domain(b, D, row_file(0), O_EXCL), EAGAIN);
}

ROW_CALL("5.7", "closing the device destroys the domain with its objects",
	 last_user_ends(BY_CLOSE_DEVICE))
ROW_OF_PROCESSES("5.7", "an exit destroys the domain with its objects", last_user_ends(BY_EXIT))
ROW_OF_PROCESSES("5.7", "a kill destroys the domain with its objects", last_user_ends(BY_KILL))

static void others_close_after(enum end how)
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	expect_ok(reg(b, D, qpn));
	actor_end(a, how);
	expect(close_domain(b, D), EBUSY);
	expect_ok(unreg(b, D, qpn));
	expect_ok(close_domain(b, D));
}

ROW_CALL("5.7", "other processes close the domain after a device was closed",
	 others_close_after(BY_CLOSE_DEVICE))
ROW_OF_PROCESSES("5.7", "other processes close the domain after a kill",
		 others_close_after(BY_KILL))

ROW("5.7", "after the device is closed, every verb with its domains is EINVAL")
{
	struct actor *a = with_domain(), *b = with_domain();
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTS, a, PEER_QPN);
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_ok(reg(b, D, qpn));
	actor_end(a, BY_CLOSE_DEVICE);
	expect(close_domain(a, D), EINVAL);
	expect(create_srq(a, 0, D), EINVAL);
	expect(create_qp(a, 0, D), EINVAL);
	expect(modify_rcv_qp(a, D, qpn, &attr, MASK_RTS), EINVAL);
	expect(reg(a, D, qpn), EINVAL);
	expect(unreg(a, D, qpn), EINVAL);
	expect(query_rcv_qp(a, D, qpn, 0), EINVAL);
	expect(create_rcv_qp(a, D), EINVAL);
	expect_rcv_state(b, qpn, IBV_QPS_RTR);
}

ROW("5.7", "a device opened again starts without registrations")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_ok(create_srq(a, 0, D));
	expect_ok(reg(b, D, qpn));
	actor_end(a, BY_CLOSE_DEVICE);
	expect_ret(open_device(a, 0), 0);
	expect_ok(open_domain(a, D, row_file(0), 0));
	expect(unreg(a, D, qpn), EINVAL);
	expect_ok(reg(a, D, qpn));
	expect_ok(create_srq(a, 0, D));
	expect_ret(post_recv(a, 0), 0);
	expect_ok(unreg(b, D, qpn));
	expect_rcv_state(a, qpn, IBV_QPS_RTR);
}

ROW("5.7", "a forked child that exits leaves all registrations")
{
	struct request fork_child = { OPERATION(fork_child) };
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_ok(reg(b, D, qpn));
	expect_ret(actor_ask(a, fork_child), 0);
	expect_ret(actor_ask(b, fork_child), 0);
	expect_rcv_state(a, qpn, IBV_QPS_RTR);
	expect_ok(unreg(a, D, qpn));
	expect_rcv_state(b, qpn, IBV_QPS_RTR);
	expect_ok(unreg(b, D, qpn));
	expect(query_rcv_qp(b, D, qpn, 0), EINVAL);
}

ROW("5.7", "when a program destroys its objects in order, every verb returns 0")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp_in_rtr(a);

	expect_ok(create_srq(a, 0, D));
	expect_ok(create_qp(a, 0, D));
	expect_ok(destroy_qp(a, 0));
	expect_ok(destroy_srq(a, 0));
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
	expect_ret(destroy_rest(a), 0);
}

/* If a refused object still held the PD or a CQ, destroying these would fail with EBUSY. */
ROW("5.7", "a refused call keeps no reference to a PD or CQ")
{
	struct request srq = srq_request(0, D), qp = qp_request(0, D);
	struct actor *a = with_domain();

	srq.srq_attr.max_sge = 64;	/* OFED's limit, above the driver's */
	expect(actor_ask(a, srq), EINVAL);
	expect(create_srq(a, 0, WILD), EINVAL);
	qp.cap.max_inline_data = 0xffffffff;
	expect(actor_ask(a, qp), EINVAL);
	expect(create_qp(a, 0, NIL), EINVAL);
	expect(reg(a, D, 0x800001), EINVAL);
	expect_ok(close_domain(a, D));
	expect_ret(destroy_rest(a), 0);
}
