/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Handles of a context, and the life of the objects behind them. */
#ifndef SOFTHCA_OBJECT_H
#define SOFTHCA_OBJECT_H

#include <softhca/machine/hca.h>

/* Gives @object a handle in @ctx. 0 or -ENOMEM. */
int object_add(struct hca_context *ctx, struct hca_object *object, enum hca_type type);
void object_remove(struct hca_object *object);

/* NULL when the handle is unknown or names something of another type. */
struct hca_object *object_find(const struct hca_context *ctx, enum hca_type type, uint32_t handle);

struct hca_pd *object_pd(const struct hca_context *ctx, uint32_t handle);
struct hca_ah *object_ah(const struct hca_context *ctx, uint32_t handle);
struct hca_mr *object_mr(const struct hca_context *ctx, uint32_t handle);
struct hca_cq *object_cq(const struct hca_context *ctx, uint32_t handle);
struct hca_srq *object_srq(const struct hca_context *ctx, uint32_t handle);
struct hca_qp_handle *object_qp(const struct hca_context *ctx, uint32_t handle);
struct hca_xrcd_handle *object_xrcd(const struct hca_context *ctx, uint32_t handle);

/* Destroys all objects of a context that died, in ib_core's order. */
void object_destroy_all(struct hca_context *ctx);

/*
 * What a type does when one of its objects goes, a QP's handle in qp/; whoever calls has made sure
 * that nothing stands on it.
 */
void pd_destroy(struct hca_pd *pd);
void ah_destroy(struct hca_ah *ah);
void mr_destroy(struct hca_mr *mr);
void cq_destroy(struct hca_cq *cq);
void srq_destroy(struct hca_srq *srq);
void qp_handle_destroy(struct hca_qp_handle *handle);
void xrcd_handle_destroy(struct hca_xrcd_handle *handle);

#endif
