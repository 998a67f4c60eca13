/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.4 to 5.6 where the kernel refuses the OPEN_QP command: only the opened device that
 * created a receive QP can use it.
 */

#define GROUP "no_open_qp"

#include "row.h"

ROW("5.6", "the creator modifies, queries, registers and unregisters")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	bring_rcv_qp(a, qpn, IBV_QPS_RTR, a, PEER_QPN);
	expect_rcv_state(a, qpn, IBV_QPS_RTR);
	expect_ok(reg(a, D, qpn));
	expect_ok(unreg(a, D, qpn));
	expect(unreg(a, D, qpn), EINVAL);
}

ROW("5.6", "reg by another opened device is ENOSYS, the second time too")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect(reg(b, D, qpn), ENOSYS);
	expect(reg(b, D, qpn), ENOSYS);
}

ROW("5.4", "modify by another opened device is ENOSYS, the second time too")
{
	struct actor *a = with_domain(), *b = with_domain();
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT, b, 0);
	uint32_t qpn = new_rcv_qp(a);

	expect(modify_rcv_qp(b, D, qpn, &attr, MASK_INIT), ENOSYS);
	expect(modify_rcv_qp(b, D, qpn, &attr, MASK_INIT), ENOSYS);
	expect_rcv_state(a, qpn, IBV_QPS_RESET);
}

ROW("5.5", "query by another opened device is ENOSYS, the second time too")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect(query_rcv_qp(b, D, qpn, 0), ENOSYS);
	expect(query_rcv_qp(b, D, qpn, 0), ENOSYS);
}

ROW("5.6", "unreg by another opened device is EINVAL")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect(unreg(b, D, qpn), EINVAL);
	expect(reg(b, D, qpn), ENOSYS);
	expect(unreg(b, D, qpn), EINVAL);
	expect_ok(unreg(a, D, qpn));
}

/* Only another opened device would need OPEN_QP; a second domain of this one does not. */
ROW("5.6", "a second domain of the creator registers")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect_ok(open_domain(a, 1, row_file(0), O_CREAT));
	expect_ok(reg(a, 1, qpn));
	expect_ok(query_rcv_qp(a, 1, qpn, 0));
	expect_ok(unreg(a, 1, qpn));
	expect(unreg(a, D, qpn), EINVAL);
}

ROW("5.2", "domains close after a refused reg")
{
	struct actor *a = with_domain(), *b = with_domain();
	uint32_t qpn = new_rcv_qp(a);

	expect(reg(b, D, qpn), ENOSYS);
	expect_ok(close_domain(b, D));
	expect(close_domain(a, D), EBUSY);
	expect_ok(unreg(a, D, qpn));
	expect_ok(close_domain(a, D));
}
