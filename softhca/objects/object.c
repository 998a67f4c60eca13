/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Handles of a context, and the order in which a dead context's objects go. */
#include "object.h"

int object_add(struct hca_context *ctx, struct hca_object *object, enum hca_type type)
{
	int err = numtab_add(&ctx->handles, object, &object->handle);

	if (err)
		return err;
	object->type = type;
	object->uses = 0;
	object->ctx = ctx;
	list_add(&ctx->objects[type], &object->link);
	return 0;
}

void object_remove(struct hca_object *object)
{
	numtab_remove(&object->ctx->handles, object->handle);
	list_del(&object->link);
}

struct hca_object *object_find(const struct hca_context *ctx, enum hca_type type, uint32_t handle)
{
	struct hca_object *object = numtab_find(&ctx->handles, handle);

	return object && object->type == type ? object : NULL;
}

/* The object is the first member of each type, so NULL stays NULL. */
#define FIND(ctx, type, handle) ((void *)object_find(ctx, type, handle))

struct hca_pd *object_pd(const struct hca_context *ctx, uint32_t handle)
{
	return FIND(ctx, HCA_PD, handle);
}

struct hca_ah *object_ah(const struct hca_context *ctx, uint32_t handle)
{
	return FIND(ctx, HCA_AH, handle);
}

struct hca_mr *object_mr(const struct hca_context *ctx, uint32_t handle)
{
	return FIND(ctx, HCA_MR, handle);
}

struct hca_cq *object_cq(const struct hca_context *ctx, uint32_t handle)
{
	return FIND(ctx, HCA_CQ, handle);
}

struct hca_srq *object_srq(const struct hca_context *ctx, uint32_t handle)
{
	return FIND(ctx, HCA_SRQ, handle);
}

struct hca_qp_handle *object_qp(const struct hca_context *ctx, uint32_t handle)
{
	return FIND(ctx, HCA_QP, handle);
}

struct hca_xrcd_handle *object_xrcd(const struct hca_context *ctx, uint32_t handle)
{
	return FIND(ctx, HCA_XRCD, handle);
}

static void destroy(struct hca_object *object)
{
	switch (object->type) {
	case HCA_AH:
		ah_destroy((void *)object);
		break;
	case HCA_QP:
		qp_handle_destroy((void *)object);
		break;
	case HCA_SRQ:
		srq_destroy((void *)object);
		break;
	case HCA_CQ:
		cq_destroy((void *)object);
		break;
	case HCA_MR:
		mr_destroy((void *)object);
		break;
	case HCA_XRCD:
		xrcd_handle_destroy((void *)object);
		break;
	default:
		pd_destroy((void *)object);
		break;
	}
}

void object_destroy_all(struct hca_context *ctx)
{
	for (int type = 0; type < HCA_TYPES; type++) {
		list_for_each_safe(node, after, &ctx->objects[type])
			destroy(container_of(node, struct hca_object, link));
	}
}
