/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The sender: one XRC QP, connected to one receive QP, from which every receiver is reached by its
 * SRQ number.
 */
#include <arpa/inet.h>

#include "cluster.h"

#define WINDOW 4u	/* messages under way, each with a buffer */
#define FIRST_PSN 0x123456

static struct ibv_qp *qp;
static uint64_t posted, completed;

static void open_sender(void)
{
	struct ibv_qp_init_attr init_attr = { .cap = { .max_send_wr = 2 * WINDOW,
						       .max_send_sge = 1 } };
	struct ibv_qp_attr attr = endpoint_init_attr(0);

	endpoint_open(SENDER, -1, WINDOW * MAX_MESSAGE);
	init_attr.send_cq = endpoint.cq;
	init_attr.recv_cq = endpoint.cq;
	init_attr.qp_type = IBV_QPT_XRC;
	init_attr.xrc_domain = endpoint.domain;
	qp = MAKE(ibv_create_qp, endpoint.pd, &init_attr);
	DO(ibv_modify_qp, qp, &attr, MASK_INIT);
	endpoint.self->address.qp_num = qp->qp_num;
	endpoint.self->address.psn = FIRST_PSN;
	process_reached(PHASE_OPENED);
}

static void connect_to(const struct address *peer)
{
	struct ibv_qp_attr rtr = endpoint_rtr_attr(peer);
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

	process_step("connecting to the receive QP");
	DO(ibv_modify_qp, qp, &rtr, MASK_RTR);
	DO(ibv_modify_qp, qp, &rts, MASK_RTS);
}

static enum ibv_wc_status complete(void)
{
	struct ibv_wc wc = endpoint_wait();

	if (wc.wr_id != completed)
		process_fail("message %llu completed instead of %llu", (unsigned long long)wc.wr_id,
			     (unsigned long long)completed);
	completed++;
	return wc.status;
}

static void must_complete(void)
{
	enum ibv_wc_status status = complete();

	if (status != IBV_WC_SUCCESS)
		process_fail("a message completed with: %s", ibv_wc_status_str(status));
}

/* Waits for a free buffer, fills and posts it. The caller sets the opcode and the target in wr. */
static void post(struct ibv_send_wr *wr, uint32_t size, uint64_t key)
{
	uint8_t *buffer = endpoint.memory + posted % WINDOW * MAX_MESSAGE;
	struct ibv_sge sge = { .addr = (uintptr_t)buffer,
			       .length = size,
			       .lkey = endpoint.mr->lkey };
	struct ibv_send_wr *bad;

	if (posted - completed == WINDOW)
		must_complete();
	pattern_fill(buffer, size, key);
	wr->wr_id = posted++;
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	DO(ibv_post_send, qp, wr, &bad);
	endpoint.self->counts.messages++;
	endpoint.self->counts.bytes += size;
}

static void send_message(uint32_t receiver, uint32_t round, uint32_t number)
{
	const struct planned *planned = &plan[number];
	const struct address *target = &cluster->members[receiver].address;
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
	post(&wr, planned->size, plan_key(receiver, round, number, false));
	if (planned->kind == MESSAGE_WRITE)
		post(&note, NOTE_SIZE, plan_key(receiver, round, number, true));
}

/*
 * In turn to every receiver that takes part, all through the same QP. Those that do not are gone,
 * first of all the creator of the receive QP.
 */
static void send_round(uint32_t round)
{
	unsigned int first = 0;

	for (; round >= rounds_of(first); first++)
		process_await(&cluster->members[first].phase, PHASE_GONE);
	__atomic_store_n(&cluster->rounds, round + 1, __ATOMIC_RELEASE);
	for (uint32_t number = 0; number < PLAN_LENGTH; number++)
		for (unsigned int receiver = first; receiver < cluster->receivers; receiver++)
			send_message(receiver, round, number);
	while (completed < posted)
		must_complete();
}

/* The receive QP ends with the last registration, although the SRQ is still there. */
static void send_last_word(unsigned int receiver)
{
	struct member *self = endpoint.self, *last = &cluster->members[receiver];
	struct counts before = self->counts;
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND,
		.xrc_remote_srq_num = last->address.srq_num,
	};

	process_await(&last->phase, PHASE_UNREGISTERED);
	post(&wr, 1, 0);
	self->counts = before;	/* it must not arrive */
	cluster->last_word = complete();
	process_reached(PHASE_LAST_WORD);
}

void sender_run(void)
{
	unsigned int last = cluster->receivers - 1;

	open_sender();
	for (unsigned int i = 0; i <= last; i++)
		process_await(&cluster->members[i].phase, PHASE_REGISTERED);
	connect_to(&cluster->members[0].address);
	for (uint32_t round = 0; round < rounds_of(last); round++)
		send_round(round);
	send_last_word(last);
	process_step("closing the QP");
	DO(ibv_destroy_qp, qp);
	endpoint_close();
}
