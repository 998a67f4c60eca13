// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Queue pairs come and go: rings, numbers and handles. */
#include "qp.h"
#include "object.h"
#include "recv.h"
#include "sq.h"

#include <softhca/model/mlx4_fmt.h>

#include <errno.h>
#include <stdlib.h>

#define MIN_LOG_STRIDE 6u
#define MAX_LOG_STRIDE 10u
#define MAX_LOG_COUNT  15u

static uint32_t log2_of(uint32_t power)
{
	return (uint32_t)__builtin_ctz(power);
}

/* As the mlx4 driver sizes a receive queue; a QP that has none must not ask for one. */
static int size_rq(struct hca_qp *qp, struct qp_request *request)
{
	const struct settings *settings = &qp->device->machine->settings;

	if (qp->type == IBV_QPT_XRC_SEND || qp->type == IBV_QPT_XRC_RECV || request->srq) {
		if (request->max_recv_wr)
			return -EINVAL;
		request->max_recv_sge = 0;
		return 0;
	}
	if (!request->max_recv_wr || !request->max_recv_sge || request->max_recv_wr > (uint32_t)settings->max_qp_wr ||
	    request->max_recv_sge > (uint32_t)settings->max_sge)
		return -EINVAL;
	qp->rq.count = mlx4_pow2(request->max_recv_wr);
	qp->rq.shift = log2_of(mlx4_rq_stride(request->max_recv_sge));
	/* The program takes both numbers for the size of its ring. */
	request->max_recv_wr = qp->rq.count;
	request->max_recv_sge = mlx4_pow2(request->max_recv_sge);
	if (request->max_recv_sge > (uint32_t)settings->max_sge)
		request->max_recv_sge = (uint32_t)settings->max_sge;
	qp->max_recv_sge = request->max_recv_sge;
	return 0;
}

static int size_sq(struct hca_qp *qp, const struct qp_request *request)
{
	const struct settings *settings = &qp->device->machine->settings;

	if (qp->type == IBV_QPT_XRC_RECV)
		return 0;
	if (request->max_send_wr > (uint32_t)settings->max_qp_wr || request->max_send_sge > (uint32_t)settings->max_sge)
		return -EINVAL;
	if (request->log_sq_stride < MIN_LOG_STRIDE || request->log_sq_stride > MAX_LOG_STRIDE ||
	    request->log_sq_count > MAX_LOG_COUNT)
		return -EINVAL;
	qp->sq.count = 1u << request->log_sq_count;
	qp->sq.shift = request->log_sq_stride;
	return 0;
}

/* In one buffer, the queue with the larger stride first. */
static void place_rings(struct hca_qp *qp, const struct qp_request *request)
{
	uint64_t rq_bytes = (uint64_t)qp->rq.count << qp->rq.shift;
	uint64_t sq_bytes = (uint64_t)qp->sq.count << qp->sq.shift;
	bool rq_first = qp->rq.count && qp->rq.shift > qp->sq.shift;

	qp->rq.buffer = request->buffer + (rq_first ? 0 : sq_bytes);
	qp->sq.buffer = request->buffer + (rq_first ? rq_bytes : 0);
	qp->doorbell = request->doorbell;
}

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

static int init(struct hca_qp *qp, struct hca_context *ctx, struct qp_request *request)
{
	int error;

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
	qp->max_send_wr = request->max_send_wr;
	qp->max_send_sge = request->max_send_sge;
	qp->max_inline = request->max_inline;
	list_init(&qp->handles);
	list_init(&qp->link);
	sq_init(qp);
	error = size_rq(qp, request);
	if (!error)
		error = size_sq(qp, request);
	if (!error)
		place_rings(qp, request);
	return error;
}

static int add_handle(struct hca_context *ctx, struct hca_qp *qp, struct hca_xrcd_handle *domain, uint64_t user_handle,
		      struct hca_qp_handle **result)
{
	struct hca_qp_handle *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return -ENOMEM;
	if (object_add(ctx, &handle->obj, HCA_QP)) {
		free(handle);
		return -ENOMEM;
	}
	handle->qp = qp;
	handle->user_handle = user_handle;
	handle->domain = domain;
	if (domain)
		domain->obj.uses++;
	list_add(&qp->handles, &handle->peer);
	*result = handle;
	return 0;
}

int qp_create(struct hca_context *ctx, struct qp_request *request, struct hca_qp_handle **handle)
{
	struct hca_qp *qp = calloc(1, sizeof(*qp));
	uint32_t number;
	int error = -ENOMEM;

	if (!qp)
		return -ENOMEM;
	error = init(qp, ctx, request);
	if (error)
		goto out_free;
	error = numtab_add(&ctx->device->qps, qp, &number);
	if (error)
		goto out_free;
	qp->qpn = number | (qp->type == IBV_QPT_XRC_RECV ? MLX4_XRC_TARGET : 0);
	error = add_handle(ctx, qp, request->domain, request->user_handle, handle);
	if (error)
		goto out_number;
	hold(qp, 1);
	if (qp->ctx)
		list_add(&ctx->qps, &qp->link);
	return 0;

out_number:
	numtab_remove(&ctx->device->qps, number);
out_free:
	free(qp);
	return error;
}

int qp_open(struct hca_context *ctx, struct hca_xrcd_handle *domain, uint32_t qpn, uint64_t user_handle,
	    struct hca_qp_handle **handle)
{
	struct hca_qp *qp = device_qp(ctx->device, qpn);

	if (!qp || qp->type != IBV_QPT_XRC_RECV || qp->xrcd != domain->xrcd)
		return -EINVAL;
	return add_handle(ctx, qp, domain, user_handle, handle);
}

static void destroy(struct hca_qp *qp)
{
	sq_stop(qp);
	list_del(&qp->link);
	numtab_remove(&qp->device->qps, qp->qpn & ~MLX4_XRC_TARGET);
	hold(qp, -1);
	free(qp);
}

/* An XRC target QP lives as long as any of its handles, whoever made it. */
void qp_handle_destroy(struct hca_qp_handle *handle)
{
	if (handle->domain)
		handle->domain->obj.uses--;
	list_del(&handle->peer);
	if (list_empty(&handle->qp->handles))
		destroy(handle->qp);
	object_remove(&handle->obj);
	free(handle);
}
