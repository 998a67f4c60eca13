/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Makes receive QPs, connects them, and sends through them. */

#include <string.h>

#include "receiver.h"
#include "../row.h"

#define LENGTH 5000u	/* of a message: on more than one page */

uint32_t receive_qp(struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = domain };
	uint32_t qp_num;

	must_eq(ibv_create_xrc_rcv_qp(&init_attr, &qp_num), 0);
	return qp_num;
}

int query_receive_qp(struct ibv_xrc_domain *domain, uint32_t qp_num)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	return ibv_query_xrc_rcv_qp(domain, qp_num, &attr, IBV_QP_STATE, &init_attr);
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

void receive_through(struct end *end, uint32_t qp_num)
{
	uint8_t *received = end->memory + 2 * LENGTH;
	struct ibv_wc wc;

	memset(end->memory, 'x', LENGTH);
	memset(received, 0, LENGTH);
	end_post_recv(end, 1, 2 * LENGTH, LENGTH);
	end_send(end, IBV_WR_SEND, 0, LENGTH);
	for (int i = 0; i < 2; i++) {
		wc = end_poll(end);
		must_eq(wc.status, IBV_WC_SUCCESS);
		must_eq(wc.qp_num, wc.opcode & IBV_WC_RECV ? qp_num : end->qp->qp_num);
	}
	must(!memcmp(end->memory, received, LENGTH));
}
