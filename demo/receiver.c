/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A receiver has one XRC SRQ in the shared domain. It does not know the sender: messages for its
 * SRQ come in through a receive QP that another process may have created.
 */
#include <arpa/inet.h>

#include "cluster.h"

/*
 * Fewer than a round has messages, so that the sender also meets "receiver not ready" and tries
 * again.
 */
#define BUFFERS 6u

static struct receiver {
	unsigned int number;
	struct ibv_srq *srq;
	uint32_t qp_num;	/* of the receive QP */
	struct counts *counts;
} receiver;

static uint8_t *buffer(uint64_t number)
{
	return endpoint.memory + REGION_SIZE + number * MAX_MESSAGE;
}

static void post(uint64_t number)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buffer(number),
		.length = MAX_MESSAGE,
		.lkey = endpoint.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = number, .sg_list = &sge, .num_sge = 1 }, *bad;

	DO(ibv_post_srq_recv, receiver.srq, &wr, &bad);
}

static void open_receiver(int domain_fd)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = BUFFERS, .max_sge = 1 } };

	endpoint_open(receiver.number, domain_fd, REGION_SIZE + BUFFERS * MAX_MESSAGE);
	receiver.srq = MAKE(ibv_create_xrc_srq, endpoint.pd, endpoint.domain, endpoint.cq, &attr);
	endpoint.self->address.srq_num = receiver.srq->xrc_srq_num;
	for (uint64_t i = 0; i < BUFFERS; i++)
		post(i);
	process_reached(PHASE_OPENED);
}

/* INIT and RTR are enough: a receive QP never sends. */
static void create_rcv_qp(const struct address *sender)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = endpoint.domain };
	struct ibv_qp_attr init = endpoint_init_attr(IBV_ACCESS_REMOTE_WRITE);
	struct ibv_qp_attr rtr = endpoint_rtr_attr(sender);

	process_step("creating the receive QP");
	DO(ibv_create_xrc_rcv_qp, &init_attr, &receiver.qp_num);
	DO(ibv_modify_xrc_rcv_qp, endpoint.domain, receiver.qp_num, &init, MASK_INIT);
	DO(ibv_modify_xrc_rcv_qp, endpoint.domain, receiver.qp_num, &rtr, MASK_RTR);
}

/* Receiver 0 creates the receive QP, the others register with its number. */
static void join(void)
{
	const struct member *sender = &cluster->members[SENDER], *first = &cluster->members[0];

	if (receiver.number == 0) {
		process_await(&sender->phase, PHASE_OPENED);
		create_rcv_qp(&sender->address);
	} else {
		process_await(&first->phase, PHASE_REGISTERED);
		receiver.qp_num = first->address.qp_num;
		process_step("registering with the receive QP");
		DO(ibv_reg_xrc_rcv_qp, endpoint.domain, receiver.qp_num);
	}
	endpoint.self->address.qp_num = receiver.qp_num;
	process_reached(PHASE_REGISTERED);
}

static void check(const void *data, uint32_t size, uint64_t key)
{
	uint32_t wrong = pattern_check(data, size, key);

	if (wrong < size)
		process_fail("byte %u of a message of %u is wrong (message %llx)", wrong, size,
			     (unsigned long long)key);
	receiver.counts->messages++;
	receiver.counts->verified++;
	receiver.counts->bytes += size;
}

static struct ibv_wc receive(uint32_t size)
{
	struct ibv_wc wc = endpoint_wait();

	if (wc.status != IBV_WC_SUCCESS)
		process_fail("a receive completed with: %s", ibv_wc_status_str(wc.status));
	if (wc.opcode != IBV_WC_RECV || wc.byte_len != size)
		process_fail("expected %u bytes by SEND, got %u with opcode %d", size, wc.byte_len,
			     (int)wc.opcode);
	if (wc.qp_num != receiver.qp_num)
		process_fail("a completion names QP 0x%06x, not the receive QP 0x%06x", wc.qp_num,
			     receiver.qp_num);
	receiver.counts->named++;
	return wc;
}

static void check_imm(const struct ibv_wc *wc, uint32_t wanted)
{
	if (!(wc->wc_flags & IBV_WC_WITH_IMM))
		process_fail("a SEND came without its immediate data");
	if (ntohl(wc->imm_data) != wanted)
		process_fail("immediate data is 0x%08x, not 0x%08x", ntohl(wc->imm_data), wanted);
}

static void receive_message(uint32_t round, uint32_t number)
{
	const struct planned *planned = &plan[number];
	bool write = planned->kind == MESSAGE_WRITE;
	uint32_t size = write ? NOTE_SIZE : planned->size;
	struct ibv_wc wc = receive(size);

	if (planned->kind == MESSAGE_SEND_IMM)
		check_imm(&wc, plan_imm(receiver.number, round, number));
	check(buffer(wc.wr_id), size, plan_key(receiver.number, round, number, write));
	if (write)
		check(endpoint.memory + planned->offset, planned->size,
		      plan_key(receiver.number, round, number, false));
	post(wc.wr_id);
}

static void receive_round(uint32_t round)
{
	process_await(&cluster->rounds, round + 1);
	for (uint32_t number = 0; number < PLAN_LENGTH; number++)
		receive_message(round, number);
}

/* The last receiver keeps its SRQ until the sender has tried to reach it once more. */
static void leave(void)
{
	process_step("leaving");
	DO(ibv_unreg_xrc_rcv_qp, endpoint.domain, receiver.qp_num);
	process_reached(PHASE_UNREGISTERED);
	if (receiver.number == cluster->receivers - 1)
		process_await(&cluster->members[SENDER].phase, PHASE_LAST_WORD);
	process_step("leaving");
	DO(ibv_destroy_srq, receiver.srq);
	endpoint_close();
}

void receiver_run(unsigned int number, int domain_fd)
{
	receiver.number = number;
	receiver.counts = &cluster->members[number].counts;
	open_receiver(domain_fd);
	join();
	for (uint32_t round = 0; round < rounds_of(number); round++)
		receive_round(round);
	leave();
}
