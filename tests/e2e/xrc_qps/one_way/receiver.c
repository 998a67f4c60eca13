/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Makes receive QPs, connects them, and sends through them. */

#include <string.h>

#include "receiver.h"

#define LENGTH 5000u	/* of a message: on more than one page */

struct end end;
int domain_fd;
uint32_t rcv_qp_num;

void open_receiver(void)
{
	domain_fd = shared_file();
	end_open(&end, 0, domain_fd, false);
	rcv_qp_num = receive_qp(end.domain);
}

void close_receiver(void)
{
	if (end.context)
		must_eq(ibv_unreg_xrc_rcv_qp(end.domain, rcv_qp_num), 0);
	end_close(&end);
}

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

void bring_receive_qp(const struct end *self, uint32_t qp_num)
{
	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_RTR; state++) {
		int mask;
		struct ibv_qp_attr attr = end_attr(self, state, &mask);

		must_eq(ibv_modify_xrc_rcv_qp(self->domain, qp_num, &attr, mask), 0);
	}
}

void connect_to_itself(struct end *self, uint32_t qp_num)
{
	self->peer = self->own;
	bring_receive_qp(self, qp_num);
	self->peer.qp_num = qp_num;
	end_bring(self, IBV_QPS_RTS);
}

void receive_through(struct end *self, uint32_t qp_num)
{
	uint8_t *received = self->memory + 2 * LENGTH;
	struct ibv_wc wc;

	memset(self->memory, 'x', LENGTH);
	memset(received, 0, LENGTH);
	end_post_recv(self, 1, 2 * LENGTH, LENGTH);
	end_send(self, IBV_WR_SEND, 0, LENGTH);
	for (int i = 0; i < 2; i++) {
		wc = end_poll(self);
		must_eq(wc.status, IBV_WC_SUCCESS);
		must_eq(wc.qp_num, wc.opcode & IBV_WC_RECV ? qp_num : self->qp->qp_num);
	}
	must(!memcmp(self->memory, received, LENGTH));
}
