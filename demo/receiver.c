/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A receiver has one XRC SRQ in the shared domain. It does not know the sender: messages for its
 * SRQ come in through a receive QP that another process may have created.
 */
#include <arpa/inet.h>
#include <string.h>

#include "cluster.h"

/* Fewer than a round has messages, so that the sender also meets "receiver not ready". */
#define BUFFERS 6u

static struct ibv_srq *srq;

static uint8_t *buffer(uint64_t number)
{
	return endpoint.memory + number * MAX_MESSAGE;
}

static void post(uint64_t number)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buffer(number),
		.length = MAX_MESSAGE,
		.lkey = endpoint.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = number, .sg_list = &sge, .num_sge = 1 }, *bad;

	DO(ibv_post_srq_recv, srq, &wr, &bad);
}

static void open_receiver(int domain_fd)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = BUFFERS, .max_sge = 1 } };

	endpoint_open(domain_fd, BUFFERS);
	srq = MAKE(ibv_create_xrc_srq, endpoint.pd, endpoint.domain, endpoint.cq, &attr);
	self->srq_num = srq->xrc_srq_num;
	for (uint64_t i = 0; i < BUFFERS; i++)
		post(i);
}

/* INIT and RTR are enough: a receive QP never sends. */
static void create_rcv_qp(void)
{
	struct ibv_qp_init_attr attr = { .xrc_domain = endpoint.domain };
	struct ibv_qp_attr init = init_attr();
	struct ibv_qp_attr rtr = rtr_attr(&cluster->members[SENDER]);

	DO(ibv_create_xrc_rcv_qp, &attr, &self->qp_num);
	DO(ibv_modify_xrc_rcv_qp, endpoint.domain, self->qp_num, &init, MASK_INIT);
	DO(ibv_modify_xrc_rcv_qp, endpoint.domain, self->qp_num, &rtr, MASK_RTR);
}

static void register_rcv_qp(void)
{
	await(0, PHASE_READY);
	self->qp_num = cluster->members[0].qp_num;
	DO(ibv_reg_xrc_rcv_qp, endpoint.domain, self->qp_num);
}

static void receive_message(uint32_t size, uint32_t key)
{
	static uint64_t wanted[MAX_MESSAGE / 8];
	struct ibv_wc wc = endpoint_wait();

	if (wc.status != IBV_WC_SUCCESS)
		fail("a receive completed with: %s", ibv_wc_status_str(wc.status));
	if (wc.opcode != IBV_WC_RECV || wc.byte_len != size || wc.qp_num != self->qp_num)
		fail("expected %u bytes by SEND on QP 0x%06x, got %u with opcode %d on QP 0x%06x",
		     size, self->qp_num, wc.byte_len, (int)wc.opcode, wc.qp_num);
	if (!(wc.wc_flags & IBV_WC_WITH_IMM) || ntohl(wc.imm_data) != key)
		fail("a SEND came without its immediate data, 0x%08x", key);
	message_fill(wanted, size, key);
	self->messages++;
	self->bytes += size;
	self->verified += !memcmp(buffer(wc.wr_id), wanted, size);
	post(wc.wr_id);
}

/* The last receiver keeps its SRQ until the sender has tried to reach it once more. */
static void leave(bool last)
{
	DO(ibv_unreg_xrc_rcv_qp, endpoint.domain, self->qp_num);
	reached(PHASE_LEFT);
	if (last)
		await(SENDER, PHASE_GONE);
	DO(ibv_destroy_srq, srq);
	endpoint_close();
}

void receiver_run(unsigned int number, int domain_fd)
{
	await(SENDER, PHASE_READY);
	open_receiver(domain_fd);
	if (number == 0)
		create_rcv_qp();
	else
		register_rcv_qp();
	reached(PHASE_READY);
	for (uint32_t round = 0; round < rounds_of(number); round++)
		for (uint32_t i = 0; i < PLAN_LENGTH; i++)
			receive_message(plan[i], message_key(number, round, i));
	leave(number == cluster->receivers - 1);
}
