/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Queue pairs come and go: rings, numbers and handles. */
#include "qp.h"

#include <base/refuse.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* @change: 1, or -1u when the QP goes. */
static void count_uses(struct hca_qp *qp, unsigned int change)
{
	if (qp->pd)
		qp->pd->obj.uses += change;
	if (qp->send_cq)
		qp->send_cq->obj.uses += change;
	if (qp->recv_cq)
		qp->recv_cq->obj.uses += change;
	if (qp->srq)
		qp->srq->obj.uses += change;
}

static void find_ring(const struct hca_context *ctx, struct ring *ring)
{
	if (!ring->count)
		return;
	arena_find(ctx, &ring->buffer, (uint64_t)ring->count << ring->shift);
	arena_find(ctx, &ring->record, sizeof(uint32_t));
}

static void init_qp(struct hca_qp *qp, struct hca_context *ctx, const struct qp_request *request)
{
	qp->device = ctx->device;
	qp->ctx = request->type == IBV_QPT_XRC_RECV ? NULL : ctx;
	qp->type = request->type;
	qp->state = IBV_QPS_RESET;
	qp->pd = request->pd;
	qp->send_cq = request->send_cq;
	qp->recv_cq = request->recv_cq;
	qp->srq = request->srq;
	qp->xrcd = request->domain ? request->domain->xrcd : NULL;
	qp->sq_sig_all = request->sq_sig_all;
	qp->not_to_self = request->not_to_self;
	qp->max_send_wr = request->caps.max_send_wr;
	qp->max_send_sge = request->caps.max_send_sge;
	qp->max_inline = request->caps.max_inline;
	qp->sq = request->rings.sq;
	qp->rq = request->rings.rq;
	find_ring(ctx, &qp->sq);
	find_ring(ctx, &qp->rq);
	qp->max_recv_sge = request->rings.max_recv_sge;
	qp->user_index = request->rings.user_index;
	list_init(&qp->handles);
	list_init(&qp->link);
	list_init(&qp->groups);
	sq_init(qp);
}

static void destroy(struct hca_qp *qp)
{
	mcast_detach_all(qp);
	sq_stop(qp);
	list_del(&qp->link);
	numtab_remove(&qp->device->qps, qp->qpn & ~qp->device->model->target_tag);
	count_uses(qp, -1u);
	free(qp->send.away);
	free(qp);
}

/* An XRC target QP lives as long as any of its handles. */
static void release(struct hca_object *object)
{
	struct hca_qp_handle *handle = container_of(object, struct hca_qp_handle, obj);

	if (handle->domain)
		handle->domain->obj.uses--;
	list_del(&handle->peer);
	if (list_empty(&handle->qp->handles))
		destroy(handle->qp);
}

static int add_handle(struct hca_context *ctx, struct hca_qp *qp, struct hca_xrcd_handle *domain,
		      uint64_t user_handle, struct hca_qp_handle **result)
{
	struct hca_qp_handle *handle = object_new(ctx, HCA_QP, sizeof(*handle), release);

	if (!handle)
		return -ENOMEM;
	handle->qp = qp;
	handle->user_handle = user_handle;
	handle->domain = domain;
	if (domain)
		domain->obj.uses++;
	/* ib_core tells the newest handle first, so the new one goes in front. */
	list_add(qp->handles.next, &handle->peer);
	*result = handle;
	return 0;
}

int qp_create(struct hca_context *ctx, const struct qp_request *request,
	      struct hca_qp_handle **handle)
{
	struct hca_qp *qp = calloc(1, sizeof(*qp));
	uint32_t number;
	int err;

	if (!qp)
		return -ENOMEM;
	init_qp(qp, ctx, request);
	err = numtab_add(&ctx->device->qps, qp, &number);
	if (err) {
		refuse(err, "max_qp");
		goto out_free;
	}
	qp->qpn = number | (qp->type == IBV_QPT_XRC_RECV ? ctx->device->model->target_tag : 0);
	err = add_handle(ctx, qp, request->domain, request->user_handle, handle);
	if (err)
		goto out_number;
	count_uses(qp, 1);
	if (qp->ctx)
		list_add(&ctx->qps, &qp->link);
	return 0;

out_number:
	numtab_remove(&ctx->device->qps, number);
out_free:
	free(qp);
	return err;
}

struct hca_qp *qp_find(const struct hca_device *device, uint32_t qpn)
{
	struct hca_qp *qp = numtab_find(&device->qps, qpn & (device->qps.limit - 1));

	/* Compare the whole number: a target's has a bit more than its index in the table. */
	return qp && qp->qpn == qpn ? qp : NULL;
}

bool qp_oldest_handle(const struct hca_qp_handle *handle)
{
	return handle->qp->handles.prev == &handle->peer;
}

/* ---- commands ---- */

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
			return refuse(cmd->ctx->device->model->xrc_error, "no XRC on this device");
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

/* These adapters have one of the flags. */
static int take_flags(const struct cmd *cmd, const struct ib_uverbs_ex_create_qp *in,
		      struct qp_request *request)
{
	const uint32_t known = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;

	if (in->create_flags & ~known)
		return refuse(cmd->ctx->device->model->flag_error, "creation flags");
	if (in->create_flags && request->type != IBV_QPT_UD &&
	    cmd->ctx->device->model->flags_of_ud_only)
		return refuse(-EINVAL, "creation flags of a QP that is not UD");
	request->not_to_self = in->create_flags;
	return 0;
}

/* The response of the first command is the beginning of that of the second. */
static int create_qp(struct cmd *cmd, const struct ib_uverbs_ex_create_qp *in)
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
	return create_qp(cmd, &in);
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
	return create_qp(cmd, &in);
}

int cmd_open_qp(struct cmd *cmd)
{
	const struct ib_uverbs_open_qp *in = cmd->in;
	struct hca_xrcd_handle *domain = object_find(cmd->ctx, HCA_XRCD, in->pd_handle);
	struct hca_qp *qp = qp_find(cmd->ctx->device, in->qpn);
	struct ib_uverbs_create_qp_resp resp = { 0 };
	struct hca_qp_handle *handle;
	int err;

	if (!domain || in->qp_type != IBV_QPT_XRC_RECV)
		return refuse(-EINVAL, "XRC domain handle or QP type");
	if (!qp || qp->type != IBV_QPT_XRC_RECV || qp->xrcd != domain->xrcd)
		return refuse(-EINVAL, "no such XRC target in this domain");
	err = add_handle(cmd->ctx, qp, domain, in->user_handle, &handle);
	if (err)
		return err;
	handle->opened = true;
	resp.qp_handle = handle->obj.handle;
	resp.qpn = handle->qp->qpn;
	return cmd_introduce(cmd, &handle->obj, &resp, sizeof(resp), NULL, 0);
}

int cmd_destroy_qp(struct cmd *cmd)
{
	struct hca_qp_handle *handle = cmd->object;
	struct ib_uverbs_destroy_qp_resp resp;

	if (!list_empty(&handle->qp->groups))
		return refuse(-EBUSY, "attached to a multicast group");
	resp.events_reported =
		event_settle_async(cmd->ctx, handle->user_handle, handle->async_events);
	object_destroy(&handle->obj);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
