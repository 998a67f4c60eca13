/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An actor's data path: the inline functions of the old header, which call through the ops table.
 */

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "state.h"

static char *recv_slot(struct actor_state *state, uint64_t slot)
{
	return state->buffer + (slot + 1) * MESSAGE_MAX;
}

static unsigned char pattern(uint32_t imm, uint32_t i)
{
	return (unsigned char)(imm * 31 + i * 7 + (i >> 8));
}

void do_post_recv(struct actor_state *state, const struct request *request, struct result *result)
{
	uint64_t slot = state->posted++ % RECV_SLOTS;
	struct ibv_sge sge = {
		.addr = (uintptr_t)recv_slot(state, slot), .length = MESSAGE_MAX,
		.lkey = state->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad = NULL;

	errno = ERRNO_MARK;
	if (request->srq == NIL)
		returned(result, ibv_post_recv(state->qps[request->slot], &wr, &bad));
	else
		returned(result, ibv_post_srq_recv(state->srqs[request->srq], &wr, &bad));
	intact(result, !result->ret || bad == &wr);
	if (!result->ret && request->flags & CQ_EVENT)
		result->ret = ibv_req_notify_cq(state->places[OWN].srq_cq, 0);
}

void do_post_send(struct actor_state *state, const struct request *request, struct result *result)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)state->buffer, .length = request->bytes, .lkey = state->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = request->imm, .xrc_remote_srq_num = request->number,
	}, *bad = NULL;

	for (uint32_t i = 0; i < request->bytes; i++)
		state->buffer[i] = (char)pattern(request->imm, i);
	errno = ERRNO_MARK;
	returned(result, ibv_post_send(state->qps[request->slot], &wr, &bad));
}

static long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* 1: one completion; 0: none in time; negative: an error. */
static int poll_until(struct ibv_cq *cq, struct ibv_wc *wc, long deadline)
{
	int got;

	while (!(got = ibv_poll_cq(cq, 1, wc)) && now_ms() < deadline)
		usleep(200);	/* the emulated HCA needs the processor too */
	return got;
}

static bool wait_for_cq_event(struct ibv_comp_channel *channel, int timeout_ms)
{
	struct pollfd pollfd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pollfd, 1, timeout_ms) != 1 || ibv_get_cq_event(channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

static bool as_sent(struct actor_state *state, const struct ibv_wc *wc)
{
	const char *bytes = recv_slot(state, wc->wr_id);

	for (uint32_t i = 0; i < wc->byte_len; i++)
		if (bytes[i] != (char)pattern(wc->imm_data, i))
			return false;
	return true;
}

void do_completion(struct actor_state *state, const struct request *request, struct result *result)
{
	struct opened *opened = &state->places[OWN];
	bool receive = request->srq != NIL;
	struct ibv_cq *cq = receive ? opened->srq_cq : opened->qp_cq;
	long deadline = now_ms() + request->timeout_ms;
	int got = 0;

	if (!(request->flags & CQ_EVENT) ||
	    wait_for_cq_event(opened->channel, request->timeout_ms))
		got = poll_until(cq, &result->wc, deadline);
	result->err = ERRNO_MARK;
	result->ret = got == 1 ? 0 : got ? EIO : ETIMEDOUT;
	if (got == 1 && receive && result->wc.status == IBV_WC_SUCCESS)
		fact(result, DATA_MATCHES, as_sent(state, &result->wc));
}
