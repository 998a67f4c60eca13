/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Today's <rdma/rdma_verbs.h> for programs in the XRC API of 2011, where the SRQ of an id may be an
 * XRC SRQ.
 */
#ifndef XSRQ_RDMA_VERBS_H
#define XSRQ_RDMA_VERBS_H

#include <rdma/rdma_cma.h>
#include_next <rdma/rdma_verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline int xsrq_rdma_create_on(struct rdma_cm_id *id, struct ibv_pd *pd,
				      struct xsrq_srq_init_attr *attr, struct xsrq_srq *srq)
{
	struct ibv_srq_init_attr_ex ex;
	int err;

	xsrq_fill_attr_ex(&ex, pd, attr);
	if (rdma_create_srq_ex(id, &ex))
		return -1;
	err = xsrq_fill(srq, xsrq_real(id->srq), attr->srq_context, &ex);
	if (err) {
		rdma_destroy_srq(id);
		errno = err;
		return -1;
	}
	id->srq = srq;
	attr->attr = ex.attr;
	return 0;
}

/*
 * An id has at most one SRQ. If pd is NULL, librdmacm takes that of the id. If ext.xrc.cq is NULL,
 * librdmacm creates a CQ with a channel.
 */
static inline int xsrq_rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
				       struct xsrq_srq_init_attr *attr)
{
	struct xsrq_srq *srq;
	int ret;

	if (!id->verbs || id->srq || (pd && pd->context != id->verbs)) {
		errno = EINVAL;
		return -1;
	}
	srq = (struct xsrq_srq *)calloc(1, sizeof(*srq));
	ret = srq ? xsrq_rdma_create_on(id, pd, attr, srq) : -1;
	if (ret)
		xsrq_free(srq);
	return ret;
}

static inline void xsrq_rdma_destroy_srq(struct rdma_cm_id *id)
{
	xsrq_end_srq(id, rdma_destroy_srq);
}

#ifdef __cplusplus
}
#endif

#define rdma_create_srq xsrq_rdma_create_srq
#define rdma_destroy_srq xsrq_rdma_destroy_srq

#endif
