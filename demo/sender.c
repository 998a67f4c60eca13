/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The sender: one XRC QP, connected to one receive QP, from which every receiver is reached by its
 * SRQ number.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

#define WINDOW 4u	/* messages under way, each with a buffer */
#define FIRST_PSN 0x123456

struct sender {
	struct endpoint endpoint;
	struct ibv_qp *qp;
	struct address targets[MAX_RECEIVERS];
	uint64_t posted, completed;
	struct counts counts;
};

static void open_sender(struct sender *sender)
{
	struct endpoint *endpoint = &sender->endpoint;
	struct ibv_qp_init_attr init_attr = { .cap = { .max_send_wr = 2 * WINDOW,
						       .max_send_sge = 1 } };
	struct ibv_qp_attr attr = endpoint_init_attr(0);
	int err;

	endpoint_open(endpoint, SENDER_DEVICE, -1, WINDOW * MAX_MESSAGE);
	init_attr.send_cq = endpoint->cq;
	init_attr.recv_cq = endpoint->cq;
	init_attr.qp_type = IBV_QPT_XRC;
	init_attr.xrc_domain = endpoint->domain;
	sender->qp = ibv_create_qp(endpoint->pd, &init_attr);
	if (!sender->qp)
		process_fail("ibv_create_qp of an XRC QP: %s", strerror(errno));
	err = ibv_modify_qp(sender->qp, &attr, MASK_INIT);
	if (err)
		process_fail("ibv_modify_qp to INIT: %s", strerror(err));
	endpoint->address.qp_num = sender->qp->qp_num;
	endpoint->address.psn = FIRST_PSN;
}

static void connect_to(struct sender *sender, const struct address *peer)
{
	struct ibv_qp_attr rtr = endpoint_rtr_attr(&sender->endpoint, peer);
	/*
	 * Timeout 4.096 us << 14 = 67 ms and three retries: the last message fails within a second.
	 * rnr_retry 7 retries without limit.
	 */
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 3,
		.rnr_retry = 7,
		.sq_psn = FIRST_PSN,
		.max_rd_atomic = 1,
	};
	int err = ibv_modify_qp(sender->qp, &rtr, MASK_RTR);

	if (err)
		process_fail("ibv_modify_qp to RTR: %s", strerror(err));
	err = ibv_modify_qp(sender->qp, &rts, MASK_RTS);
	if (err)
		process_fail("ibv_modify_qp to RTS: %s", strerror(err));
}

static enum ibv_wc_status complete(struct sender *sender)
{
	struct ibv_wc wc = endpoint_wait(&sender->endpoint);

	if (wc.wr_id != sender->completed)
		process_fail("message %llu completed instead of %llu", (unsigned long long)wc.wr_id,
			     (unsigned long long)sender->completed);
	sender->completed++;
	return wc.status;
}

static void must_complete(struct sender *sender)
{
	enum ibv_wc_status status = complete(sender);

	if (status != IBV_WC_SUCCESS)
		process_fail("a message completed with: %s", ibv_wc_status_str(status));
}

/* Waits for a free buffer, fills and posts it. The caller sets the opcode and the target in wr. */
static void post(struct sender *sender, struct ibv_send_wr *wr, uint32_t size, uint64_t key)
{
	uint8_t *buffer = sender->endpoint.memory + sender->posted % WINDOW * MAX_MESSAGE;
	struct ibv_sge sge = { .addr = (uintptr_t)buffer,
			       .length = size,
			       .lkey = sender->endpoint.mr->lkey };
	struct ibv_send_wr *bad;
	int err;

	if (sender->posted - sender->completed == WINDOW)
		must_complete(sender);
	pattern_fill(buffer, size, key);
	wr->wr_id = sender->posted++;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	err = ibv_post_send(sender->qp, wr, &bad);
	if (err)
		process_fail("ibv_post_send: %s", strerror(err));
	sender->counts.messages++;
	sender->counts.bytes += size;
}

static void send_message(struct sender *sender, uint32_t receiver, uint32_t round, uint32_t number)
{
	const struct planned *planned = plan_message(number);
	const struct address *target = &sender->targets[receiver];
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .xrc_remote_srq_num = target->srq_num };
	struct ibv_send_wr note = wr;

	if (planned->kind == MESSAGE_SEND_IMM) {
		wr.opcode = IBV_WR_SEND_WITH_IMM;
		wr.imm_data = htonl(plan_imm(receiver, round, number));
	} else if (planned->kind == MESSAGE_WRITE) {
		wr.opcode = IBV_WR_RDMA_WRITE;
		wr.wr.rdma.remote_addr = target->region + planned->offset;
		wr.wr.rdma.rkey = target->rkey;
	}
	post(sender, &wr, planned->size, plan_key(receiver, round, number, false));
	if (planned->kind == MESSAGE_WRITE)
		post(sender, &note, NOTE_SIZE, plan_key(receiver, round, number, true));
}

/* In turn to every receiver that is there, all through the same QP. */
static void send_round(struct sender *sender, uint32_t round, uint32_t present)
{
	for (uint32_t number = 0; number < plan_length(); number++)
		for (uint32_t receiver = 0; receiver < MAX_RECEIVERS; receiver++)
			if (present & 1u << receiver)
				send_message(sender, receiver, round, number);
	while (sender->completed < sender->posted)
		must_complete(sender);
}

static uint32_t last_word(struct sender *sender, const struct control *control)
{
	struct counts before = sender->counts;
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.xrc_remote_srq_num = sender->targets[control->receiver].srq_num,
	};

	post(sender, &wr, 1, 0);
	sender->counts = before;	/* it must not arrive */
	return (uint32_t)complete(sender);
}

static void quit(struct sender *sender)
{
	int err = ibv_destroy_qp(sender->qp);

	if (err)
		process_fail("ibv_destroy_qp: %s", strerror(err));
	endpoint_close(&sender->endpoint);
}

static uint32_t obey(struct sender *sender, const struct control *control)
{
	unsigned int seconds = sender->endpoint.options->timeout + 2;

	switch (control->verb) {
	case CONTROL_TARGET:
		sender->targets[control->receiver] = control->address;
		return 0;
	case CONTROL_CONNECT:
		process_step("connecting to the receive QP", seconds);
		connect_to(sender, &control->address);
		return 0;
	case CONTROL_ROUND:
		process_step("sending", 0);
		send_round(sender, control->round, control->present);
		return 0;
	case CONTROL_LAST_WORD:
		process_step("sending to nobody", seconds);
		return last_word(sender, control);
	case CONTROL_QUIT:
		process_step("closing", seconds);
		quit(sender);
		return 0;
	case CONTROL_ABORT:
		process_abandon();
	default:
		process_fail("the coordinator said %d", (int)control->verb);
	}
}

static void answer(struct sender *sender, enum control_verb verb, uint32_t status)
{
	struct control control = {
		.verb = verb,
		.status = status,
		.address = sender->endpoint.address,
		.counts = sender->counts,
	};

	if (control_send(sender->endpoint.socket, &control))
		process_fail("the coordinator is gone");
}

void sender_run(const struct options *options, int socket)
{
	struct sender sender = { .endpoint = { .options = options, .socket = socket } };
	struct control control = { .verb = CONTROL_HELLO };

	process_name("sender");
	process_step("opening the device", options->timeout + 2);
	open_sender(&sender);
	answer(&sender, CONTROL_HELLO, 0);
	while (control.verb != CONTROL_QUIT) {
		/* Without a limit: others may take long, and the coordinator watches the time. */
		process_step("waiting for the coordinator", 0);
		if (control_receive(socket, &control, -1))
			process_fail("the coordinator is gone");
		answer(&sender, CONTROL_DONE, obey(&sender, &control));
	}
	exit(0);
}
