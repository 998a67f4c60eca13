/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Assertions about completions and events, which tell what came in place of the expected. */
#include "rig.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static struct ibv_wc must_poll(struct ibv_cq *cq, const char *file, int line)
{
	struct ibv_wc wc;
	int got = rig_poll(cq, &wc, RIG_PATIENCE_MS);

	if (got < 0)
		row_fail(file, line, "ibv_poll_cq: %s", strerror(errno));
	if (!got)
		row_fail(file, line, "no completion comes");
	return wc;
}

struct ibv_wc rig_must_succeed_at(struct ibv_cq *cq, const char *file, int line)
{
	struct ibv_wc wc = must_poll(cq, file, line);

	if (wc.status)
		row_fail(file, line, "request %" PRIu64 " completes with \"%s\", not with success",
			 wc.wr_id, ibv_wc_status_str(wc.status));
	return wc;
}

struct ibv_wc rig_must_complete_at(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_status status,
				   const char *file, int line)
{
	struct ibv_wc wc = must_poll(cq, file, line);

	if (wc.wr_id != wr_id || wc.status != status)
		row_fail(file, line,
			 "request %" PRIu64 " completes with \"%s\", not %" PRIu64 " with \"%s\"",
			 wc.wr_id, ibv_wc_status_str(wc.status), wr_id, ibv_wc_status_str(status));
	return wc;
}

void rig_must_send_at(struct ibv_qp *qp, struct ibv_send_wr *wr, enum ibv_wc_status status,
		      const char *file, int line)
{
	int err = rig_post(qp, wr);
	struct ibv_wc wc;

	if (err)
		row_fail(file, line, "ibv_post_send: %s", strerror(err));
	wc = rig_must_complete_at(qp->send_cq, wr->wr_id, status, file, line);
	if (wc.qp_num != qp->qp_num)
		row_fail(file, line, "the completion is of QP 0x%x, not 0x%x", wc.qp_num,
			 qp->qp_num);
}

void rig_must_be_quiet_at(struct ibv_cq *cq, int milliseconds, const char *file, int line)
{
	struct ibv_wc wc;
	int got = rig_poll(cq, &wc, milliseconds);

	if (got < 0)
		row_fail(file, line, "ibv_poll_cq: %s", strerror(errno));
	if (got)
		row_fail(file, line, "request %" PRIu64 " completes with \"%s\", but none should",
			 wc.wr_id, ibv_wc_status_str(wc.status));
}

struct ibv_async_event rig_must_get_event_at(struct ibv_context *ctx, const char *file, int line)
{
	struct ibv_async_event event;

	if (!rig_readable(ctx->async_fd, RIG_PATIENCE_MS) || ibv_get_async_event(ctx, &event))
		row_fail(file, line, "no event comes");
	return event;
}

void rig_must_hear_at(struct host *host, enum ibv_event_type type, const void *object,
		      const char *file, int line)
{
	struct ibv_async_event event = rig_must_get_event_at(host->ctx, file, line);

	ibv_ack_async_event(&event);
	/* The element is a union of pointers. */
	if (event.event_type != type || event.element.qp != object)
		row_fail(file, line, "\"%s\" comes of %p, not \"%s\" of %p",
			 ibv_event_type_str(event.event_type), (void *)event.element.qp,
			 ibv_event_type_str(type), object);
}

void rig_must_hear_nothing_at(struct ibv_context *ctx, int milliseconds, const char *file, int line)
{
	if (rig_readable(ctx->async_fd, milliseconds))
		row_fail(file, line, "\"%s\" comes, but no event should",
			 ibv_event_type_str(rig_must_get_event_at(ctx, file, line).event_type));
}

void rig_must_be_notified_at(struct host *host, const char *file, int line)
{
	struct ibv_cq *cq;
	void *context;

	if (!rig_readable(host->channel->fd, RIG_PATIENCE_MS) ||
	    ibv_get_cq_event(host->channel, &cq, &context))
		row_fail(file, line, "no completion event comes");
	if (cq != host->cq)
		row_fail(file, line, "the completion event is of another CQ");
	ibv_ack_cq_events(cq, 1);
}
