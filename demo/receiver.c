/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A receiver has one XRC SRQ in the shared domain. It does not know the sender: messages for its
 * SRQ come in through a receive QP that another process may have created.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

/*
 * Fewer than a round has messages, so that the sender also meets "receiver not ready" and tries
 * again.
 */
#define BUFFERS 6u

struct receiver {
	struct endpoint endpoint;
	unsigned int number;
	struct ibv_srq *srq;
	uint32_t qp_num;	/* of the receive QP, 0 while not registered */
	struct counts counts;
};

static uint8_t *buffer(struct receiver *receiver, uint64_t number)
{
	return receiver->endpoint.memory + plan_region_size() + number * MAX_MESSAGE;
}

static void post(struct receiver *receiver, uint64_t number)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)buffer(receiver, number),
		.length = MAX_MESSAGE,
		.lkey = receiver->endpoint.mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = number, .sg_list = &sge, .num_sge = 1 }, *bad;
	int err = ibv_post_srq_recv(receiver->srq, &wr, &bad);

	if (err)
		process_fail("ibv_post_srq_recv: %s", strerror(err));
}

static void open_receiver(struct receiver *receiver, int domain_fd)
{
	struct endpoint *endpoint = &receiver->endpoint;
	struct ibv_srq_init_attr init_attr = { .attr = { .max_wr = BUFFERS, .max_sge = 1 } };

	endpoint_open(endpoint, RECEIVER_DEVICE, domain_fd,
		      plan_region_size() + BUFFERS * MAX_MESSAGE);
	receiver->srq =
		ibv_create_xrc_srq(endpoint->pd, endpoint->domain, endpoint->cq, &init_attr);
	if (!receiver->srq)
		process_fail("ibv_create_xrc_srq: %s", strerror(errno));
	endpoint->address.srq_num = receiver->srq->xrc_srq_num;
	endpoint->address.region = (uintptr_t)endpoint->memory;
	endpoint->address.rkey = endpoint->mr->rkey;
	for (uint64_t i = 0; i < BUFFERS; i++)
		post(receiver, i);
}

static void answer(struct receiver *receiver, enum control_verb verb)
{
	struct control control = {
		.verb = verb,
		.receiver = receiver->number,
		.address = receiver->endpoint.address,
		.counts = receiver->counts,
	};

	if (control_send(receiver->endpoint.socket, &control))
		process_fail("the coordinator is gone");
}

/* INIT and RTR are enough: a receive QP never sends. */
static void create_rcv_qp(struct receiver *receiver, const struct address *sender)
{
	struct endpoint *endpoint = &receiver->endpoint;
	struct ibv_qp_init_attr init_attr = { .xrc_domain = endpoint->domain };
	struct ibv_qp_attr init = endpoint_init_attr(IBV_ACCESS_REMOTE_WRITE);
	struct ibv_qp_attr rtr = endpoint_rtr_attr(endpoint, sender);
	int err = ibv_create_xrc_rcv_qp(&init_attr, &receiver->qp_num);

	if (err)
		process_fail("ibv_create_xrc_rcv_qp: %s", strerror(err));
	err = ibv_modify_xrc_rcv_qp(endpoint->domain, receiver->qp_num, &init, MASK_INIT);
	if (err)
		process_fail("ibv_modify_xrc_rcv_qp to INIT: %s", strerror(err));
	err = ibv_modify_xrc_rcv_qp(endpoint->domain, receiver->qp_num, &rtr, MASK_RTR);
	if (err)
		process_fail("ibv_modify_xrc_rcv_qp to RTR: %s", strerror(err));
	endpoint->address.qp_num = receiver->qp_num;
}

static void register_rcv_qp(struct receiver *receiver, uint32_t qp_num)
{
	int err = ibv_reg_xrc_rcv_qp(receiver->endpoint.domain, qp_num);

	if (err)
		process_fail("ibv_reg_xrc_rcv_qp of 0x%06x: %s", qp_num, strerror(err));
	receiver->qp_num = qp_num;
	receiver->endpoint.address.qp_num = qp_num;
}

static void unregister(struct receiver *receiver)
{
	int err = ibv_unreg_xrc_rcv_qp(receiver->endpoint.domain, receiver->qp_num);

	if (err)
		process_fail("ibv_unreg_xrc_rcv_qp of 0x%06x: %s", receiver->qp_num, strerror(err));
	receiver->qp_num = 0;
}

static void check(struct receiver *receiver, const void *data, uint32_t size, uint64_t key)
{
	uint32_t wrong = pattern_check(data, size, key);

	if (wrong < size)
		process_fail("byte %u of a message of %u is wrong (message %llx)", wrong, size,
			     (unsigned long long)key);
	receiver->counts.messages++;
	receiver->counts.verified++;
	receiver->counts.bytes += size;
}

static struct ibv_wc receive(struct receiver *receiver, uint32_t size)
{
	struct ibv_wc wc = endpoint_wait(&receiver->endpoint);

	if (wc.status != IBV_WC_SUCCESS)
		process_fail("a receive completed with: %s", ibv_wc_status_str(wc.status));
	if (wc.opcode != IBV_WC_RECV || wc.byte_len != size)
		process_fail("expected %u bytes by SEND, got %u with opcode %d", size, wc.byte_len,
			     (int)wc.opcode);
	if (wc.qp_num != receiver->qp_num)
		process_fail("a completion names QP 0x%06x, not the receive QP 0x%06x", wc.qp_num,
			     receiver->qp_num);
	receiver->counts.named++;
	return wc;
}

static void check_imm(const struct ibv_wc *wc, uint32_t wanted)
{
	if (!(wc->wc_flags & IBV_WC_WITH_IMM))
		process_fail("a SEND came without its immediate data");
	if (ntohl(wc->imm_data) != wanted)
		process_fail("immediate data is 0x%08x, not 0x%08x", ntohl(wc->imm_data), wanted);
}

static void receive_message(struct receiver *receiver, uint32_t round, uint32_t number)
{
	const struct planned *planned = plan_message(number);
	bool write = planned->kind == MESSAGE_WRITE;
	uint32_t size = write ? NOTE_SIZE : planned->size;
	struct ibv_wc wc = receive(receiver, size);

	if (planned->kind == MESSAGE_SEND_IMM)
		check_imm(&wc, plan_imm(receiver->number, round, number));
	check(receiver, buffer(receiver, wc.wr_id), size,
	      plan_key(receiver->number, round, number, write));
	if (write)
		check(receiver, receiver->endpoint.memory + planned->offset, planned->size,
		      plan_key(receiver->number, round, number, false));
	post(receiver, wc.wr_id);
}

static void receive_round(struct receiver *receiver, uint32_t round)
{
	for (uint32_t number = 0; number < plan_length(); number++)
		receive_message(receiver, round, number);
}

static void leave(struct receiver *receiver)
{
	int err;

	if (receiver->qp_num)
		unregister(receiver);
	err = ibv_destroy_srq(receiver->srq);
	if (err)
		process_fail("ibv_destroy_srq: %s", strerror(err));
	endpoint_close(&receiver->endpoint);
	answer(receiver, CONTROL_DONE);
	exit(0);
}

static void obey(struct receiver *receiver, const struct control *control)
{
	switch (control->verb) {
	case CONTROL_CREATE:
		process_step("creating the receive QP", receiver->endpoint.options->timeout + 2);
		create_rcv_qp(receiver, &control->address);
		break;
	case CONTROL_REGISTER:
		process_step("registering with the receive QP",
			     receiver->endpoint.options->timeout + 2);
		register_rcv_qp(receiver, control->address.qp_num);
		break;
	case CONTROL_ROUND:
		process_step("receiving", 0);
		receive_round(receiver, control->round);
		break;
	case CONTROL_UNREGISTER:
		process_step("unregistering", receiver->endpoint.options->timeout + 2);
		unregister(receiver);
		break;
	case CONTROL_LEAVE:
		process_step("leaving", receiver->endpoint.options->timeout + 2);
		leave(receiver);
		break;
	case CONTROL_ABORT:
		process_abandon();
	default:
		process_fail("the coordinator said %d", (int)control->verb);
	}
}

void receiver_run(const struct options *options, int socket, int domain_fd, unsigned int number)
{
	struct receiver receiver = { .endpoint = { .options = options, .socket = socket },
				     .number = number };
	struct control control;

	process_name("receiver %u", number);
	process_step("opening the device", options->timeout + 2);
	open_receiver(&receiver, domain_fd);
	answer(&receiver, CONTROL_HELLO);
	for (;;) {
		/* Without a limit: others may take long, and the coordinator watches the time. */
		process_step("waiting for the coordinator", 0);
		if (control_receive(socket, &control, -1))
			process_fail("the coordinator is gone");
		obey(&receiver, &control);
		answer(&receiver, CONTROL_DONE);
	}
}
