/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about queue pairs. */
#include "cmd.h"

#include <softhca/base/refuse.h>
#include <softhca/objects/objects.h>
#include <softhca/qp/qp.h>

#include <errno.h>
#include <string.h>

/* The handles of a QP that sends. */
static int find_sender(struct cmd *cmd, const struct ib_uverbs_ex_create_qp *in,
		       struct qp_request *request)
{
	request->pd = object_find(cmd->ctx, HCA_PD, in->pd_handle);
	request->send_cq = object_find(cmd->ctx, HCA_CQ, in->send_cq_handle);
	if (!request->pd || !request->send_cq)
		return refuse(-EINVAL, "PD or send CQ handle");
	if (request->type == IBV_QPT_XRC_SEND) {
		request->caps.max_recv_wr = request->caps.max_recv_sge = 0;
		return 0;
	}
	request->recv_cq = object_find(cmd->ctx, HCA_CQ, in->recv_cq_handle);
	if (!request->recv_cq)
		return refuse(-EINVAL, "receive CQ handle");
	if (!in->is_srq)
		return 0;
	/* An XRC SRQ takes messages of XRC targets only. */
	request->srq = object_find(cmd->ctx, HCA_SRQ, in->srq_handle);
	return request->srq && !request->srq->xrc ? 0
						  : refuse(-EINVAL, "SRQ handle, or an XRC SRQ");
}

static int find_objects(struct cmd *cmd, const struct ib_uverbs_ex_create_qp *in,
			struct qp_request *request)
{
	bool xrc = cmd->ctx->device->machine->settings.xrc;

	switch (request->type) {
	case IBV_QPT_XRC_RECV:
		/* The field of the protection domain carries the XRC domain. */
		request->domain = object_find(cmd->ctx, HCA_XRCD, in->pd_handle);
		request->caps.max_recv_wr = request->caps.max_recv_sge = 0;
		return request->domain ? 0 : refuse(-EINVAL, "XRC domain handle");
	case IBV_QPT_XRC_SEND:
		if (!xrc)
			return refuse(cmd->ctx->device->model->no_xrc, "no XRC on this device");
		return find_sender(cmd, in, request);
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
		return find_sender(cmd, in, request);
	case IBV_QPT_RAW_PACKET:
		return refuse(-EOPNOTSUPP, "QP type");
	default:
		return refuse(-EINVAL, "QP type");
	}
}

/* Of the flags these adapters have one. */
static int take_flags(const struct cmd *cmd, const struct ib_uverbs_ex_create_qp *in,
		      struct qp_request *request)
{
	const uint32_t known = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;

	if (in->create_flags & ~known)
		return refuse(cmd->ctx->device->model->no_flag, "creation flags");
	if (in->create_flags && request->type != IBV_QPT_UD &&
	    cmd->ctx->device->model->flags_of_datagrams)
		return refuse(-EINVAL, "creation flags of a QP that is not UD");
	request->not_to_self = in->create_flags;
	return 0;
}

/* The response of the first command is the beginning of that of the second. */
static int create(struct cmd *cmd, const struct ib_uverbs_ex_create_qp *in)
{
	const struct hca_device *device = cmd->ctx->device;
	struct qp_request request = {
		.user_handle = in->user_handle,
		.type = in->qp_type,
		.sq_sig_all = in->sq_sig_all,
		.caps = { in->max_send_wr, in->max_recv_wr, in->max_send_sge, in->max_recv_sge,
			  in->max_inline_data },
	};
	struct ib_uverbs_ex_create_qp_resp resp = { 0 };
	struct hca_qp_handle *handle;
	int err = find_objects(cmd, in, &request);

	if (!err)
		err = take_flags(cmd, in, &request);
	if (!err)
		err = device->model->take_qp(cmd->driver_in, cmd->driver_in_size, request.type,
					     request.srq, cmd->ctx->cqe_version,
					     &device->machine->settings.limits, &request.caps,
					     &request.rings);
	if (!err)
		err = qp_create(cmd->ctx, &request, &handle);
	if (err)
		return err;
	resp.base.qp_handle = handle->obj.handle;
	resp.base.qpn = handle->qp->qpn;
	resp.base.max_send_wr = request.caps.max_send_wr;
	resp.base.max_recv_wr = request.caps.max_recv_wr;
	resp.base.max_send_sge = request.caps.max_send_sge;
	resp.base.max_recv_sge = request.caps.max_recv_sge;
	resp.base.max_inline_data = request.caps.max_inline;
	resp.response_length =
		(uint32_t)(cmd->out_size < sizeof(resp) ? cmd->out_size : sizeof(resp));
	return cmd_introduce(cmd, &handle->obj, &resp, sizeof(resp), NULL, 0);
}

/* The first command is the beginning of the second, but for the address of its response. */
int cmd_create_qp(struct cmd *cmd)
{
	const struct ib_uverbs_create_qp *first = cmd->in;
	struct ib_uverbs_ex_create_qp in = { 0 };

	memcpy(&in, &first->user_handle, offsetof(struct ib_uverbs_ex_create_qp, comp_mask));
	return create(cmd, &in);
}

int cmd_ex_create_qp(struct cmd *cmd)
{
	struct ib_uverbs_ex_create_qp in = { 0 };

	memcpy(&in, cmd->in, cmd->in_size < sizeof(in) ? cmd->in_size : sizeof(in));
	/* A table of receive queues is for Ethernet. */
	if (in.comp_mask || in.reserved)
		return refuse(in.comp_mask == IB_UVERBS_CREATE_QP_MASK_IND_TABLE ? -EOPNOTSUPP
										 : -EINVAL,
			      "comp_mask or reserved");
	return create(cmd, &in);
}

int cmd_open_qp(struct cmd *cmd)
{
	const struct ib_uverbs_open_qp *in = cmd->in;
	struct hca_xrcd_handle *domain = object_find(cmd->ctx, HCA_XRCD, in->pd_handle);
	struct ib_uverbs_create_qp_resp resp = { 0 };
	struct hca_qp_handle *handle;
	int err;

	if (!domain || in->qp_type != IBV_QPT_XRC_RECV)
		return refuse(-EINVAL, "XRC domain handle or QP type");
	err = qp_open(cmd->ctx, domain, in->qpn, in->user_handle, &handle);
	if (err)
		return err;
	resp.qp_handle = handle->obj.handle;
	resp.qpn = handle->qp->qpn;
	return cmd_introduce(cmd, &handle->obj, &resp, sizeof(resp), NULL, 0);
}

int cmd_modify_qp(struct cmd *cmd)
{
	const struct ib_uverbs_modify_qp *in = cmd->in;
	struct hca_qp_handle *handle = object_find(cmd->ctx, HCA_QP, in->qp_handle);

	/* Bits beyond the oldest set need the extended command. */
	if (in->attr_mask & ~(((uint32_t)IBV_QP_DEST_QPN << 1) - 1))
		return refuse(-EOPNOTSUPP, "attribute bits of EX_MODIFY_QP");
	if (!handle)
		return refuse(-EINVAL, "QP handle");
	return qp_modify(handle->qp, in);
}

int cmd_query_qp(struct cmd *cmd)
{
	const struct ib_uverbs_query_qp *in = cmd->in;
	struct hca_qp_handle *handle = object_find(cmd->ctx, HCA_QP, in->qp_handle);
	struct ib_uverbs_query_qp_resp resp;

	if (!handle)
		return refuse(-EINVAL, "QP handle");
	qp_query(handle->qp, &resp);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}

int cmd_destroy_qp(struct cmd *cmd)
{
	const struct ib_uverbs_destroy_qp *in = cmd->in;
	struct hca_qp_handle *handle = object_find(cmd->ctx, HCA_QP, in->qp_handle);
	struct ib_uverbs_destroy_qp_resp resp;

	if (!handle)
		return refuse(-ENOENT, "QP handle");
	if (!list_empty(&handle->qp->groups))
		return refuse(-EBUSY, "attached to a multicast group");
	resp.events_reported =
		event_settle_async(cmd->ctx, handle->user_handle, handle->async_events);
	object_destroy(&handle->obj);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
