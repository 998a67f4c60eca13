/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about shared receive queues. */
#include "cmd.h"

#include <softhca/base/refuse.h>
#include <softhca/objects/objects.h>

#include <errno.h>

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
		if (!request.domain || !request.cq)
			return refuse(-EINVAL, "XRC domain or CQ handle");
	}
	return create(cmd, &request);
}

int cmd_modify_srq(struct cmd *cmd)
{
	const struct ib_uverbs_modify_srq *in = cmd->in;
	struct hca_srq *srq = object_find(cmd->ctx, HCA_SRQ, in->srq_handle);

	/* The driver cannot change the size of an SRQ. */
	if (!srq || in->attr_mask & IBV_SRQ_MAX_WR)
		return refuse(-EINVAL, "SRQ handle, or a new size");
	return in->attr_mask & IBV_SRQ_LIMIT ? srq_set_limit(srq, in->srq_limit) : 0;
}

int cmd_query_srq(struct cmd *cmd)
{
	const struct ib_uverbs_query_srq *in = cmd->in;
	struct hca_srq *srq = object_find(cmd->ctx, HCA_SRQ, in->srq_handle);
	struct ib_uverbs_query_srq_resp resp = { 0 };

	if (!srq)
		return refuse(-EINVAL, "SRQ handle");
	resp.max_wr = srq->size - 1;
	resp.max_sge = srq->max_sge;
	resp.srq_limit = srq->limit;
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}

int cmd_destroy_srq(struct cmd *cmd)
{
	const struct ib_uverbs_destroy_srq *in = cmd->in;
	struct ib_uverbs_destroy_srq_resp resp;
	int err;
	struct hca_srq *srq = object_find_unused(cmd->ctx, HCA_SRQ, in->srq_handle, &err);

	if (err)
		return err;
	resp.events_reported = event_settle_async(cmd->ctx, srq->user_handle, srq->async_events);
	object_destroy(&srq->obj);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
