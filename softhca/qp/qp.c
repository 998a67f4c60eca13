/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Queue pairs come and go: rings, numbers and handles. */
#include "qp.h"

#include <softhca/base/refuse.h>
#include <softhca/objects/objects.h>

#include <errno.h>
#include <stdlib.h>

static void hold(struct hca_qp *qp, int by)
{
	struct hca_object *const objects[] = {
		qp->pd ? &qp->pd->obj : NULL,
		qp->send_cq ? &qp->send_cq->obj : NULL,
		qp->recv_cq ? &qp->recv_cq->obj : NULL,
		qp->srq ? &qp->srq->obj : NULL,
	};

	for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
		if (objects[i])
			objects[i]->uses += (unsigned int)by;
	}
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
	qp->max_recv_sge = request->rings.max_recv_sge;
	qp->user_index = request->rings.user_index;
	list_init(&qp->handles);
	list_init(&qp->link);
	list_init(&qp->groups);
	sq_init(qp);
}

static int add_handle(struct hca_context *ctx, struct hca_qp *qp, struct hca_xrcd_handle *domain,
		      uint64_t user_handle, struct hca_qp_handle **result)
{
	struct hca_qp_handle *handle = object_new(ctx, HCA_QP, sizeof(*handle));

	if (!handle)
		return -ENOMEM;
	handle->qp = qp;
	handle->user_handle = user_handle;
	handle->domain = domain;
	if (domain)
		domain->obj.uses++;
	/* In front: ib_core tells the handle that was opened last first. */
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
	hold(qp, 1);
	if (qp->ctx)
		list_add(&ctx->qps, &qp->link);
	return 0;

out_number:
	numtab_remove(&ctx->device->qps, number);
out_free:
	free(qp);
	return err;
}

int qp_open(struct hca_context *ctx, struct hca_xrcd_handle *domain, uint32_t qpn,
	    uint64_t user_handle, struct hca_qp_handle **handle)
{
	struct hca_qp *qp = device_qp(ctx->device, qpn);
	int err;

	if (!qp || qp->type != IBV_QPT_XRC_RECV || qp->xrcd != domain->xrcd)
		return refuse(-EINVAL, "no such XRC target in this domain");
	err = add_handle(ctx, qp, domain, user_handle, handle);
	if (!err)
		(*handle)->opened = true;
	return err;
}

bool qp_first_handle(const struct hca_qp_handle *handle)
{
	return handle->qp->handles.next == &handle->peer;
}

static void destroy(struct hca_qp *qp)
{
	mcast_detach_all(qp);
	sq_stop(qp);
	list_del(&qp->link);
	numtab_remove(&qp->device->qps, qp->qpn & ~qp->device->model->target_tag);
	hold(qp, -1);
	free(qp);
}

/* An XRC target QP lives as long as any of its handles, whoever made it. */
void qp_handle_release(struct hca_object *object)
{
	struct hca_qp_handle *handle = container_of(object, struct hca_qp_handle, obj);

	if (handle->domain)
		handle->domain->obj.uses--;
	list_del(&handle->peer);
	if (list_empty(&handle->qp->handles))
		destroy(handle->qp);
}
