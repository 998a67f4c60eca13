/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Today's <rdma/rdma_cma.h> for programs in the XRC API of 2011: where a QP is made, the attributes are theirs. */
#ifndef XSRQ_RDMA_CMA_H
#define XSRQ_RDMA_CMA_H

#include <infiniband/verbs.h>
#include_next <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* librdmacm gives a QP the SRQ of its id, and must then find the driver's there. */
static inline struct xsrq_srq *xsrq_swap_srq(struct rdma_cm_id *id, struct xsrq_srq *srq)
{
	struct xsrq_srq *before = id->srq;

	id->srq = srq;
	return before;
}

static inline int xsrq_rdma_create_qp_on(struct rdma_cm_id *id, struct ibv_pd *pd, struct xsrq_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex;
	struct xsrq_srq *of_program = attr->srq;
	int ret;

	if (id->qp_type != IBV_QPT_XRC_RECV) {
		attr->srq = (struct xsrq_srq *)xsrq_real(of_program);
		ret = rdma_create_qp(id, pd, attr);
		attr->srq = of_program;
		return ret;
	}
	xsrq_fill_qp_attr_ex(&ex, pd, attr);
	ret = rdma_create_qp_ex(id, &ex);
	attr->cap = ex.cap;
	return ret;
}

static inline int xsrq_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct xsrq_qp_init_attr *attr)
{
	struct xsrq_srq *of_program = xsrq_swap_srq(id, (struct xsrq_srq *)xsrq_real(id->srq));
	int ret = xsrq_rdma_create_qp_on(id, pd, attr);

	id->srq = of_program;
	return ret;
}

/*
 * librdmacm keeps the attributes for the connections to come, but not ext: the domain of an IBV_QPT_XRC_RECV QP would
 * be lost, so that is refused. Such a QP is for rdma_create_qp, once the connection is there.
 */
static inline int xsrq_rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
				      struct xsrq_qp_init_attr *attr)
{
	struct xsrq_srq *of_program = attr ? attr->srq : NULL;
	int ret;

	if (attr && res->ai_qp_type == IBV_QPT_XRC_RECV) {
		errno = EINVAL;
		return -1;
	}
	if (attr)
		attr->srq = (struct xsrq_srq *)xsrq_real(of_program);
	ret = rdma_create_ep(id, res, pd, attr);
	if (attr)
		attr->srq = of_program;
	return ret;
}

/* It ends the id's SRQ too. */
static inline void xsrq_rdma_destroy_ep(struct rdma_cm_id *id)
{
	struct xsrq_srq *of_program = xsrq_swap_srq(id, (struct xsrq_srq *)xsrq_real(id->srq));
	int ours = of_program != id->srq;

	rdma_destroy_ep(id);
	if (ours)
		free(of_program);
}

#ifdef __cplusplus
}
#endif

#define rdma_create_qp xsrq_rdma_create_qp
#define rdma_create_ep xsrq_rdma_create_ep
#define rdma_destroy_ep xsrq_rdma_destroy_ep

#endif
