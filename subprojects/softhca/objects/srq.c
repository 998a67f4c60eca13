/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Shared receive queues, basic and XRC. */
#include "objects.h"

#include <base/refuse.h>
#include <machine/mem.h>
#include <model/segment.h>

#include <endian.h>
#include <errno.h>

/* The ring's size and stride are not told: both sides work them out of what was asked for. */
static void fill(struct hca_srq *srq, const struct srq_request *request)
{
	srq->user_handle = request->user_handle;
	srq->pd = request->pd;
	srq->xrc = request->xrc;
	srq->domain = request->domain;
	srq->cq = request->cq;
	srq->place = request->place;
	srq->size = model_pow2(request->max_wr + 1);
	srq->max_sge = request->max_sge;
	srq->stride = segment_srq_stride(request->max_sge);
	arena_find(srq->obj.ctx, &srq->place.buffer, (uint64_t)srq->size * srq->stride);
	arena_find(srq->obj.ctx, &srq->place.record, sizeof(uint32_t));
}

/* @change: 1, or -1u when the SRQ goes. */
static void count_uses(struct hca_srq *srq, unsigned int change)
{
	srq->pd->obj.uses += change;
	if (srq->domain)
		srq->domain->obj.uses += change;
	if (srq->cq)
		srq->cq->obj.uses += change;
}

static void release(struct hca_object *object)
{
	count_uses(container_of(object, struct hca_srq, obj), -1u);
}

static bool allowed(const struct model *model, const struct limits *limits,
		    const struct srq_request *request)
{
	uint32_t max_wr = (uint32_t)limits->max_srq_wr, max_sge = (uint32_t)limits->max_srq_sge;

	if (model->srqs_exceed_limits) {
		max_wr = model_pow2(max_wr + 1) - 1;
		max_sge = (segment_srq_stride(max_sge) - SEGMENT_SRQ_HEADER) / SEGMENT_BYTES;
	}
	return request->max_wr <= max_wr && request->max_sge <= max_sge;
}

int srq_create(struct hca_context *ctx, const struct srq_request *request, struct hca_srq **result)
{
	struct hca_srq *srq;

	if (!allowed(ctx->device->model, &ctx->device->machine->settings.limits, request))
		return refuse(-EINVAL, "SRQ size");
	srq = object_new(ctx, HCA_SRQ, sizeof(*srq), release);
	if (!srq)
		return -ENOMEM;
	fill(srq, request);
	count_uses(srq, 1);
	*result = srq;
	return 0;
}

struct place srq_slot(const struct hca_srq *srq, uint16_t index)
{
	return place_at(srq->place.buffer, (uint64_t)(index & (srq->size - 1)) * srq->stride);
}

/* A record that tells of more than the ring can hold tells nothing, as that of a receive queue. */
uint32_t srq_available(const struct hca_srq *srq)
{
	uint32_t posted;
	uint16_t more;

	if (mem_load32(srq->obj.ctx, srq->place.record, &posted))
		return 0;
	more = (uint16_t)(be32toh(posted) - srq->consumed);
	return more <= srq->size ? more : 0;
}

bool srq_ready(struct hca_srq *srq)
{
	if (srq->known == srq->consumed)
		srq->known = (uint16_t)(srq->known + srq_available(srq));
	return srq->known != srq->consumed;
}

void srq_consume(struct hca_srq *srq)
{
	uint16_t next;

	/* A WQE's link is certain only once it is posted, so it is read as late as this. */
	if (!mem_read(srq->obj.ctx, &next, place_at(srq_slot(srq, srq->head), 2), sizeof(next)))
		srq->head = be16toh(next);
	srq->consumed++;
	if (srq->limit && srq_available(srq) < srq->limit) {
		srq->limit = 0;
		event_srq(srq, IBV_EVENT_SRQ_LIMIT_REACHED);
	}
}

/* ---- commands ---- */

static int create(struct cmd *cmd, struct srq_request *request)
{
	const struct model *model = cmd->ctx->device->model;
	struct ib_uverbs_create_srq_resp resp = { 0 };
	struct hca_srq *srq;
	int err;

	if (!request->pd)
		return refuse(-EINVAL, "PD handle");
	err = model->take_srq(cmd->driver_in, cmd->driver_in_size, request->xrc,
			      cmd->ctx->cqe_version, &request->place);
	if (!err)
		err = srq_create(cmd->ctx, request, &srq);
	if (err)
		return err;
	resp.srq_handle = srq->obj.handle;
	resp.max_wr = srq->size - 1;
	resp.max_sge = srq->max_sge;
	resp.srqn = srq->xrc ? srq->obj.number : 0;
	return cmd_introduce(cmd, &srq->obj, &resp, sizeof(resp), &srq->obj.number,
			     sizeof(srq->obj.number));
}

int cmd_create_srq(struct cmd *cmd)
{
	const struct ib_uverbs_create_srq *in = cmd->in;
	struct srq_request request = {
		.user_handle = in->user_handle, .max_wr = in->max_wr, .max_sge = in->max_sge,
		.pd = object_find(cmd->ctx, HCA_PD, in->pd_handle),
	};

	return create(cmd, &request);
}

int cmd_create_xsrq(struct cmd *cmd)
{
	const struct ib_uverbs_create_xsrq *in = cmd->in;
	struct srq_request request = {
		.user_handle = in->user_handle, .max_wr = in->max_wr, .max_sge = in->max_sge,
		.pd = object_find(cmd->ctx, HCA_PD, in->pd_handle),
		.xrc = in->srq_type == IBV_SRQT_XRC,
	};

	if (in->srq_type == IBV_SRQT_TM)
		return refuse(-EOPNOTSUPP, "SRQ type");
	if (in->srq_type != IBV_SRQT_XRC && in->srq_type != IBV_SRQT_BASIC)
		return refuse(-EINVAL, "SRQ type");
	if (request.xrc) {
		request.domain = object_find(cmd->ctx, HCA_XRCD, in->xrcd_handle);
		request.cq = object_find(cmd->ctx, HCA_CQ, in->cq_handle);
		if (!request.domain)
			return refuse(-EINVAL, "XRC domain handle");
		if (!request.cq) /* the kernel passes on what its look-up says */
			return refuse(-ENOENT, "CQ handle");
	}
	return create(cmd, &request);
}

int cmd_modify_srq(struct cmd *cmd)
{
	const struct ib_uverbs_modify_srq *in = cmd->in;
	struct hca_srq *srq = cmd->object;

	/* The driver cannot change the size of an SRQ. */
	if (in->attr_mask & IBV_SRQ_MAX_WR)
		return refuse(-EINVAL, "a new size");
	if (!(in->attr_mask & IBV_SRQ_LIMIT))
		return 0;
	if (in->srq_limit >= srq->size)
		return refuse(-EINVAL, "SRQ limit");
	srq->limit = in->srq_limit;
	return 0;
}

int cmd_query_srq(struct cmd *cmd)
{
	const struct hca_srq *srq = cmd->object;
	struct ib_uverbs_query_srq_resp resp = { 0 };

	resp.max_wr = srq->size - 1;
	resp.max_sge = srq->max_sge;
	resp.srq_limit = srq->limit;
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}

int cmd_destroy_srq(struct cmd *cmd)
{
	struct ib_uverbs_destroy_srq_resp resp;
	struct hca_srq *srq = cmd->object;

	resp.events_reported = event_settle_async(cmd->ctx, srq->user_handle, srq->async_events);
	object_destroy(&srq->obj);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
