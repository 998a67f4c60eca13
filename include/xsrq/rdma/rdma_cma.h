/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Today's <rdma/rdma_cma.h> for programs in the XRC API of 2011: to create a QP they pass the
 * attributes of that API.
 */
#ifndef XSRQ_RDMA_CMA_H
#define XSRQ_RDMA_CMA_H

#include <infiniband/verbs.h>
#include_next <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Puts the provider's SRQ in place of the program's, which it returns. librdmacm uses the SRQ of an
 * id or of attributes, so it must find the provider's there.
 */
static inline struct xsrq_srq *xsrq_unwrap(struct xsrq_srq **srq)
{
	struct xsrq_srq *program_srq = *srq;

	*srq = (struct xsrq_srq *)xsrq_real(program_srq);
	return program_srq;
}

static inline int xsrq_rdma_create_qp_on(struct rdma_cm_id *id, struct ibv_pd *pd,
					 struct xsrq_qp_init_attr *attr)
{
	struct ibv_qp_init_attr_ex ex;
	struct xsrq_srq *program_srq;
	int ret;

	if (id->qp_type != IBV_QPT_XRC_RECV) {
		program_srq = xsrq_unwrap(&attr->srq);
		ret = rdma_create_qp(id, pd, attr);
		attr->srq = program_srq;
		return ret;
	}
	xsrq_fill_qp_attr_ex(&ex, pd, attr);
	ret = rdma_create_qp_ex(id, &ex);
	attr->cap = ex.cap;
	return ret;
}

static inline int xsrq_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
				      struct xsrq_qp_init_attr *attr)
{
	struct xsrq_srq *program_srq = xsrq_unwrap(&id->srq);
	int ret = xsrq_rdma_create_qp_on(id, pd, attr);

	id->srq = program_srq;
	return ret;
}

/*
 * librdmacm keeps the attributes for later connections, but without ext. An IBV_QPT_XRC_RECV QP
 * would lose its domain, so that type is EINVAL here. Create such a QP by rdma_create_qp(), after
 * the connection request.
 */
static inline int xsrq_rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res,
				      struct ibv_pd *pd, struct xsrq_qp_init_attr *attr)
{
	struct xsrq_srq *program_srq = NULL;
	int ret;

	if (attr && res->ai_qp_type == IBV_QPT_XRC_RECV) {
		errno = EINVAL;
		return -1;
	}
	if (attr)
		program_srq = xsrq_unwrap(&attr->srq);
	ret = rdma_create_ep(id, res, pd, attr);
	if (attr)
		attr->srq = program_srq;
	return ret;
}

/* Calls a function that destroys the SRQ of the id, and frees the program's. */
static inline void xsrq_end_srq(struct rdma_cm_id *id, void (*end)(struct rdma_cm_id *id))
{
	struct xsrq_srq *program_srq = xsrq_unwrap(&id->srq);
	int is_xsrq = program_srq != id->srq;

	end(id);
	if (is_xsrq)
		free(program_srq);
}

static inline void xsrq_rdma_destroy_ep(struct rdma_cm_id *id)
{
	xsrq_end_srq(id, rdma_destroy_ep);
}

#ifdef __cplusplus
}
#endif

#define rdma_create_qp xsrq_rdma_create_qp
#define rdma_create_ep xsrq_rdma_create_ep
#define rdma_destroy_ep xsrq_rdma_destroy_ep

#endif
