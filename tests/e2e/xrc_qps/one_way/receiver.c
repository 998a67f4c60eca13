/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Makes receive QPs, connects them, and sends through them. */

#include <string.h>

#include "receiver.h"

#define LENGTH 5000u	/* of a message: on more than one page */

struct side self;
int domain_fd;
uint32_t rcv_qp_num;

void open_receiver(void)
{
	domain_fd = shared_file();
	side_open(&self, 0, domain_fd, false);
	rcv_qp_num = receive_qp(self.domain);
}

void close_receiver(void)
{
	if (self.context)
		end_receive_qp(self.domain, rcv_qp_num);
	side_close(&self);
}

uint32_t receive_qp(struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = domain };
	uint32_t qp_num;

	must_eq(ibv_create_xrc_rcv_qp(&init_attr, &qp_num), 0);
	return qp_num;
}

void end_receive_qp(struct ibv_xrc_domain *domain, uint32_t qp_num)
{
	must_eq(ibv_unreg_xrc_rcv_qp(domain, qp_num), 0);
}

int query_receive_qp(struct ibv_xrc_domain *domain, uint32_t qp_num)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	return ibv_query_xrc_rcv_qp(domain, qp_num, &attr, IBV_QP_STATE, &init_attr);
}

void bring_receive_qp(const struct side *side, uint32_t qp_num)
{
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_RTR; state++) {
		int mask;
		struct ibv_qp_attr attr = side_attr(side, state, &mask);

		must_eq(ibv_modify_xrc_rcv_qp(side->domain, qp_num, &attr, mask), 0);
	}
}

void connect_to_itself(struct side *side, uint32_t qp_num)
{
	side->peer = side->own;
	bring_receive_qp(side, qp_num);
	side->peer.qp_num = qp_num;
	side_bring(side, IBV_QPS_RTS);
}

void receive_through(struct side *side, uint32_t qp_num)
{
	uint8_t *received = side->memory + 2 * LENGTH;
	struct ibv_wc wc;

	memset(side->memory, 'x', LENGTH);
	memset(received, 0, LENGTH);
	side_post_recv(side, 1, 2 * LENGTH, LENGTH);
	side_send(side, IBV_WR_SEND, 0, LENGTH);
	for (int i = 0; i < 2; i++) {
		wc = side_poll(side);
		must_eq(wc.status, IBV_WC_SUCCESS);
		must_eq(wc.qp_num, wc.opcode & IBV_WC_RECV ? qp_num : side->qp->qp_num);
	}
	must(!memcmp(side->memory, received, LENGTH));
}

void send_through_new_qp(uint32_t qp_num)
{
	side_create_qp(&self, 16);
	connect_to_itself(&self, qp_num);
	receive_through(&self, qp_num);
}
