/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The sender: one XRC QP, connected to one receive QP, from which every receiver is reached by its
 * SRQ number.
 */
#include <arpa/inet.h>

#include "cluster.h"

#define WINDOW 4u	/* messages under way, each with a buffer */

static struct ibv_qp *qp;
static uint64_t posted, completed;

static void open_sender(void)
{
	struct ibv_qp_init_attr qp_attr = { .cap = { .max_send_wr = 2 * WINDOW,
						     .max_send_sge = 1 } };
	struct ibv_qp_attr init = init_attr();

	endpoint_open(-1, WINDOW);
	qp_attr.send_cq = endpoint.cq;
	qp_attr.recv_cq = endpoint.cq;
	qp_attr.qp_type = IBV_QPT_XRC;
	qp_attr.xrc_domain = endpoint.domain;
	qp = MAKE(ibv_create_qp, endpoint.pd, &qp_attr);
	DO(ibv_modify_qp, qp, &init, MASK_INIT);
	self->qp_num = qp->qp_num;
	reached(PHASE_READY);
}

static void connect_to(const struct member *peer)
{
	struct ibv_qp_attr rtr = rtr_attr(peer);
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

	DO(ibv_modify_qp, qp, &rtr, MASK_RTR);
	DO(ibv_modify_qp, qp, &rts, MASK_RTS);
}

static void must_complete(void)
{
	struct ibv_wc wc = endpoint_wait();

	if (wc.wr_id != completed || wc.status != IBV_WC_SUCCESS)
		fail("message %llu completed, expected %llu: %s", (unsigned long long)wc.wr_id,
		     (unsigned long long)completed, ibv_wc_status_str(wc.status));
	completed++;
}

/* Waits for a free buffer, fills and posts it. */
static void post(const struct member *receiver, uint32_t size, uint32_t key)
{
	uint8_t *buffer = endpoint.memory + posted % WINDOW * MAX_MESSAGE;
	struct ibv_sge sge = { .addr = (uintptr_t)buffer,
			       .length = size,
			       .lkey = endpoint.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = posted,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(key),
		.xrc_remote_srq_num = receiver->srq_num,
	}, *bad;

	if (posted - completed == WINDOW)
		must_complete();
	message_fill(buffer, size, key);
	DO(ibv_post_send, qp, &wr, &bad);
	posted++;
}

static void send_message(unsigned int receiver, uint32_t round, uint32_t number)
{
	post(&cluster->members[receiver], plan[number], message_key(receiver, round, number));
	self->messages++;
	self->bytes += plan[number];
}

/*
 * In turn to every receiver that takes part, all through the same QP. The others are gone, first of
 * all the creator of the receive QP.
 */
static void send_round(uint32_t round)
{
	unsigned int first = 0;

	for (; round >= rounds_of(first); first++)
		await(first, PHASE_GONE);
	for (uint32_t number = 0; number < PLAN_LENGTH; number++)
		for (unsigned int receiver = first; receiver < cluster->receivers; receiver++)
			send_message(receiver, round, number);
	while (completed < posted)
		must_complete();
}

/* The receive QP ends with the last registration, although the SRQ is still there. */
static void send_last_word(unsigned int receiver)
{
	await(receiver, PHASE_LEFT);
	post(&cluster->members[receiver], 1, 0);
	cluster->last_word = endpoint_wait().status;
}

void sender_run(void)
{
	unsigned int last = cluster->receivers - 1;

	open_sender();
	for (unsigned int i = 0; i <= last; i++)
		await(i, PHASE_READY);
	connect_to(&cluster->members[0]);
	for (uint32_t round = 0; round < rounds_of(last); round++)
		send_round(round);
	send_last_word(last);
	DO(ibv_destroy_qp, qp);
	endpoint_close();
}
