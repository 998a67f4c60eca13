/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An actor's async events. */

#include <fcntl.h>
#include <poll.h>
#include <string.h>

#include "state.h"

static bool wait_for_event(const struct ibv_context *context, int timeout_ms)
{
	struct pollfd pollfd = { .fd = context->async_fd, .events = POLLIN };

	return poll(&pollfd, 1, timeout_ms) == 1;
}

static void get(struct ibv_context *context, struct ibv_async_event *event, bool blocking,
		struct result *result)
{
	int flags = fcntl(context->async_fd, F_GETFL);

	if (!blocking)
		fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK);
	errno = ERRNO_MARK;
	returned_minus_one(result, ibv_get_async_event(context, event));
	fcntl(context->async_fd, F_SETFL, flags);
}

void do_get_event(struct actor_state *state, const struct request *request, struct result *result)
{
	struct ibv_context *context = state->places[OWN].context;
	struct ibv_async_event *event = guarded_new(sizeof(*event), 0xff);
	bool blocking = !(request->flags & DRAIN);
	uint64_t element = 0;	/* the union of a 32-bit program is only the lower half */

	if (!wait_for_event(context, request->timeout_ms) && blocking) {
		result->ret = result->err = ETIMEDOUT;
		return;
	}
	get(context, event, blocking, result);
	memcpy(&element, &event->element, sizeof(event->element));
	result->event_type = (uint32_t)event->event_type;
	result->number = event->element.xrc_qp_num;
	fact(result, UPPER_HALF_ZERO, !(element >> 32));
	fact(result, SRQ_MATCHES, event->element.srq == state->srqs[request->slot]);
	fact(result, QP_MATCHES, event->element.qp == state->qps[request->slot]);
	state->event = *event;
	intact(result, guarded_free(event, sizeof(*event)));
}

void do_ack_event(struct actor_state *state, const struct request *request, struct result *result)
{
	struct ibv_async_event event = state->event;
	enum ibv_event_type type;

	if (request->flags & ACK_WITHOUT_FLAG)
		event.event_type =
			(enum ibv_event_type)((uint32_t)event.event_type & ~IBV_XRC_QP_EVENT_FLAG);
	type = event.event_type;
	errno = ERRNO_MARK;
	ibv_ack_async_event(&event);
	returned(result, 0);
	intact(result, event.event_type == type);
	intact(result, !memcmp(&event.element, &state->event.element, sizeof(event.element)));
}
