/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Makes receive QPs and connects them. */

#include "receiver.h"
#include "row.h"

uint32_t receive_qp(struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = domain };
	uint32_t qp_num;

	must_eq(ibv_create_xrc_rcv_qp(&init_attr, &qp_num), 0);
	return qp_num;
}

void bring_receive_qp(const struct end *end, uint32_t qp_num)
{
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_RTR; state++) {
		int mask;
		struct ibv_qp_attr attr = end_attr(end, state, &mask);

		must_eq(ibv_modify_xrc_rcv_qp(end->domain, qp_num, &attr, mask), 0);
	}
}

void connect_to_itself(struct end *end, uint32_t qp_num)
{
	end->peer = end->own;
	bring_receive_qp(end, qp_num);
	end->peer.qp_num = qp_num;
	end_bring(end, IBV_QPS_RTS);
}
