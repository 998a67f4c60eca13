/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * RoCE (since OFED 1.5.1): ports without LIDs, so receive QPs and their senders are connected by
 * GIDs.
 */

#define GROUP "ethernet"

#include <string.h>

#include "row.h"

static void expect_path(struct result r, const struct actor *to)
{
	struct ibv_ah_attr want = actor_path(to);

	expect_ok(r);
	expect_eq(r.attr.ah_attr.is_global, 1);
	expect_eq(r.attr.ah_attr.dlid, 0);
	expect_eq(r.attr.ah_attr.grh.sgid_index, 0);
	expect_that(!memcmp(&r.attr.ah_attr.grh.dgid, &want.grh.dgid, sizeof(want.grh.dgid)));
}

ROW("5.5", "a query of a receive QP returns the GID of its peer")
{
	struct actor *a = with_domain();

	expect_path(query_rcv_qp(a, D, new_rcv_qp_in_rtr(a), 0), a);
}

ROW("5.9", "a query of an XRC QP returns the GID of its peer")
{
	struct actor *a = with_private();

	expect_ok(create_qp(a, 0, D));
	bring_qp(a, 0, IBV_QPS_RTS, a, PEER_QPN);
	expect_path(query_qp(a, 0, IBV_QP_AV), a);
}

static struct ibv_qp_attr without_grh(const struct actor *a)
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR, a, PEER_QPN);

	attr.ah_attr.is_global = 0;
	attr.ah_attr.dlid = 1;
	return attr;
}

ROW("5.4", "a receive QP is not connected without a GRH")
{
	struct actor *a = with_domain();
	uint32_t qpn = new_rcv_qp(a);
	struct ibv_qp_attr attr = without_grh(a);

	bring_rcv_qp(a, qpn, IBV_QPS_INIT, a, PEER_QPN);
	expect(modify_rcv_qp(a, D, qpn, &attr, mask_to(IBV_QPS_RTR)), EINVAL);
	expect_rcv_state(a, qpn, IBV_QPS_INIT);
}

ROW("5.9", "an XRC QP is not connected without a GRH")
{
	struct actor *a = with_private();
	struct ibv_qp_attr attr = without_grh(a);

	expect_ok(create_qp(a, 0, D));
	bring_qp(a, 0, IBV_QPS_INIT, a, PEER_QPN);
	expect(modify_qp(a, 0, &attr, mask_to(IBV_QPS_RTR)), EINVAL);
}
