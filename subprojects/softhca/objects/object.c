/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Objects: their handles and numbers, and the order in which a dead context's objects go. */
#include "objects.h"

#include <base/refuse.h>

#include <errno.h>
#include <stdlib.h>

static const struct {
	const char *name;  /* as the trace calls it */
	const char *limit; /* of their numbers; NULL = the adapter does not number them */
} kinds[HCA_TYPES] = {
	[HCA_AH] = { "address", NULL },
	[HCA_QP] = { "QP", NULL },
	[HCA_SRQ] = { "SRQ", "max_srq" },
	[HCA_CQ] = { "CQ", "max_cq" },
	[HCA_MR] = { "MR", "max_mr" },
	[HCA_XRCD] = { "XRC domain", NULL },
	[HCA_PD] = { "PD", "max_pd" },
};

void *object_new(struct hca_context *ctx, enum hca_type type, size_t size,
		 void (*release)(struct hca_object *object))
{
	struct numtab *numbers = &ctx->device->numbers[type];
	struct hca_object *object = calloc(1, size);

	if (!object)
		return NULL;
	if (kinds[type].limit && numtab_add(numbers, object, &object->number)) {
		refuse(-ENOMEM, "%s", kinds[type].limit);
		free(object);
		return NULL;
	}
	if (numtab_add(&ctx->handles, object, &object->handle)) {
		refuse(-ENOMEM, "handles of this context");
		numtab_remove(numbers, object->number);
		free(object);
		return NULL;
	}
	object->type = type;
	object->ctx = ctx;
	object->release = release;
	list_add(&ctx->objects[type], &object->link);
	return object;
}

void object_destroy(struct hca_object *object)
{
	if (object->release)
		object->release(object);
	numtab_remove(&object->ctx->device->numbers[object->type], object->number);
	numtab_remove(&object->ctx->handles, object->handle);
	list_del(&object->link);
	free(object);
}

void *object_find(const struct hca_context *ctx, enum hca_type type, uint32_t handle)
{
	struct hca_object *object = numtab_find(&ctx->handles, handle);

	return object && object->type == type ? object : NULL;
}

void *object_find_for(const struct hca_context *ctx, enum hca_type type, uint32_t handle,
		      bool ends, int *err)
{
	struct hca_object *object = object_find(ctx, type, handle);

	*err = 0;
	if (!object)
		*err = refuse(ends ? -ENOENT : -EINVAL, "%s handle", kinds[type].name);
	else if (ends && object->uses)
		*err = refuse(-EBUSY, "%s in use", kinds[type].name);
	return object;
}

void object_destroy_all(struct hca_context *ctx)
{
	for (int type = 0; type < HCA_TYPES; type++) {
		list_for_each_safe(struct hca_object, object, &ctx->objects[type], link)
			object_destroy(object);
	}
}
