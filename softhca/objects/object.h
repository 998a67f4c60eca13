/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Handles of a context, and the life of the objects behind them. */
#ifndef SOFTHCA_OBJECT_H
#define SOFTHCA_OBJECT_H

#include <softhca/machine/hca.h>

#include <stddef.h>

/*
 * An object of @size bytes, which begin with struct hca_object and are otherwise 0, with a handle
 * in @ctx and the number that the adapter gives to its type, if it does. NULL stands for -ENOMEM.
 */
void *object_new(struct hca_context *ctx, enum hca_type type, size_t size);

/* Ends it. The caller has made sure that nothing stands on it. */
void object_destroy(struct hca_object *object);

/* The object; NULL when the handle is unknown or names something of another type. */
void *object_find(const struct hca_context *ctx, enum hca_type type, uint32_t handle);

/* The same for a command that destroys it. *err: -ENOENT, or -EBUSY if something stands on it. */
void *object_find_unused(const struct hca_context *ctx, enum hca_type type, uint32_t handle,
			 int *err);

/* Destroys all objects of a context that died, in ib_core's order. */
void object_destroy_all(struct hca_context *ctx);

/* What a type does when one of its objects goes; the one of a QP's handle is in qp/. */
void cq_release(struct hca_object *object);
void srq_release(struct hca_object *object);
void qp_handle_release(struct hca_object *object);
void xrcd_handle_release(struct hca_object *object);

#endif
