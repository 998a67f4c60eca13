/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The verbs that are inline today, as functions for the table. Each clears errno first, for modern_null_status(). */

#include <errno.h>

#include "table.h"

struct ibv_xrcd *modern_inline_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	errno = 0;
	return ibv_open_xrcd(context, attr);
}

int modern_inline_close_xrcd(struct ibv_xrcd *xrcd)
{
	return ibv_close_xrcd(xrcd);
}

/*
 * Not the inline ibv_create_srq_ex: that one also refers to the symbol ibv_create_srq for ordinary SRQs, and the
 * library must not have undefined symbols of libibverbs.
 */
struct ibv_srq *modern_inline_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_srq_ex);

	errno = 0;
	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_srq_ex(context, attr);
}

int modern_inline_get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	return ibv_get_srq_num(srq, number);
}

/* Not the inline ibv_create_qp_ex, for the same reason. */
struct ibv_qp *modern_inline_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	struct verbs_context *vctx = verbs_get_ctx_op(context, create_qp_ex);

	errno = 0;
	if (!vctx) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	return vctx->create_qp_ex(context, attr);
}
