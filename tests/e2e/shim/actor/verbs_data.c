/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An actor's data path: the inline functions of the old header, which call through the ops table.
 * Its async events.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "row.h"
#include "state.h"

#define WAIT_MS 20000		/* for a completion or event that must come */
#define NOTHING_MS 50		/* for a completion or event that must not come */

static int timeout_ms(const struct request *request)
{
	return request->flags & NOTHING ? NOTHING_MS : WAIT_MS;
}

static bool readable(int fd, const struct request *request)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, timeout_ms(request)) == 1;
}

static char *recv_slot(struct actor_state *state, uint64_t slot)
{
	return state->buffer + (slot + 1) * MESSAGE_MAX;
}

static char pattern(uint32_t imm, uint32_t i)
{
	return (char)(unsigned char)(imm * 31 + i * 7 + (i >> 8));
}

/* Posts to an SRQ, or with NIL to the QP of the slot. */
OPERATION(post_recv)
{
	uint64_t slot = state->posted++ % RECV_SLOTS;
	struct ibv_sge sge = {
		.addr = (uintptr_t)recv_slot(state, slot), .length = MESSAGE_MAX,
		.lkey = state->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad = NULL;

	if (request->srq == NIL)
		CALL(ibv_post_recv(state->qps[request->slot], &wr, &bad));
	else
		CALL(ibv_post_srq_recv(state->srqs[request->srq], &wr, &bad));
	result->intact = !result->ret || bad == &wr;
	if (!result->ret && request->flags & CQ_EVENT)
		result->ret = ibv_req_notify_cq(state->places[OWN].srq_cq, 0);
}

OPERATION(post_send)
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
		state->buffer[i] = pattern(request->imm, i);
	CALL(ibv_post_send(state->qps[request->slot], &wr, &bad));
}

static bool got_cq_event(struct ibv_comp_channel *channel, const struct request *request)
{
	struct ibv_cq *cq;
	void *context;

	if (!readable(channel->fd, request) || ibv_get_cq_event(channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return true;
}

static bool as_sent(struct actor_state *state, const struct ibv_wc *wc)
{
	const char *bytes = recv_slot(state, wc->wr_id);

	for (uint32_t i = 0; i < wc->byte_len; i++)
		if (bytes[i] != pattern(wc->imm_data, i))
			return false;
	return true;
}

OPERATION(completion)
{
	struct opened *opened = &state->places[OWN];
	bool receive = request->srq != NIL;
	struct ibv_cq *cq = receive ? opened->srq_cq : opened->qp_cq;
	double deadline = seconds() + timeout_ms(request) / 1000.0;
	int got = 0;

	if (!(request->flags & CQ_EVENT) || got_cq_event(opened->channel, request))
		while (!(got = ibv_poll_cq(cq, 1, &result->wc)) && seconds() < deadline)
			usleep(200);	/* the emulated HCA needs the processor too */
	result->ret = got == 1 ? 0 : got ? EIO : ETIMEDOUT;
	if (got == 1 && receive && result->wc.status == IBV_WC_SUCCESS)
		result->data_matches = as_sent(state, &result->wc);
}

OPERATION(get_event)
{
	struct ibv_context *context = state->places[OWN].context;
	struct ibv_async_event *event = guarded(sizeof(*event), 0xff);
	int flags = fcntl(context->async_fd, F_GETFL);
	uint64_t element = 0;	/* the union of a 32-bit program is only the lower half */

	if (!readable(context->async_fd, request) && !(request->flags & NOTHING)) {
		result->ret = ETIMEDOUT;
		return;
	}
	if (request->flags & NOTHING)
		fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK);
	CALL_MINUS_ONE(ibv_get_async_event(context, event));
	fcntl(context->async_fd, F_SETFL, flags);
	memcpy(&element, &event->element, sizeof(event->element));
	result->event_type = (uint32_t)event->event_type;
	result->number = event->element.xrc_qp_num;
	result->upper_half_zero = !(element >> 32);
	result->srq_matches = event->element.srq == state->srqs[request->slot];
	result->qp_matches = event->element.qp == state->qps[request->slot];
	state->event = *event;
}

OPERATION(ack_event)
{
	struct ibv_async_event *event = guarded_input(&state->event, sizeof(*event));

	CALL((ibv_ack_async_event(event), 0));
}

static bool is_library(const void *function)
{
	Dl_info info;

	return dladdr(function, &info) && info.dli_fname && strstr(info.dli_fname, "libxrc-compat");
}

/*
 * Counts the slots of a context's ops table that differ from the actor's own when it opened the
 * device, and those that are the library's. as_given: post_srq_recv is the library's.
 */
OPERATION(ops)
{
	struct ibv_context *context = place_get(state, request->where)->context;
	void *now[sizeof(state->ops) / sizeof(void *)], *before[sizeof(now) / sizeof(void *)];

	memcpy(now, &context->ops, sizeof(now));
	memcpy(before, &state->ops, sizeof(before));
	for (unsigned i = 0; i < sizeof(now) / sizeof(void *); i++) {
		result->changed_ops += now[i] != before[i];
		result->library_ops += is_library(now[i]);
	}
	result->as_given = is_library((void *)context->ops.post_srq_recv);
}
