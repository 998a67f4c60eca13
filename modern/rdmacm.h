/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions of librdmacm.so.1 that the shim stands in front of. It is no dependency of ours: it is there if the
 * program brought it, also where only a plugin did.
 */
#ifndef MODERN_RDMACM_H
#define MODERN_RDMACM_H

#include <stdbool.h>
#include <infiniband/verbs.h>

struct rdma_cm_id;

typedef int (*rdmacm_create_qp_fn)(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
typedef int (*rdmacm_create_qp_ex_fn)(struct rdma_cm_id *id, void *attr);
typedef int (*rdmacm_create_srq_fn)(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
typedef int (*rdmacm_create_srq_ex_fn)(struct rdma_cm_id *id, void *attr);

/** The functions, NULL if no librdmacm.so.1 is loaded. Asked for anew each time: a plugin may go and come. */
rdmacm_create_qp_fn modern_rdmacm_create_qp(void);
rdmacm_create_qp_ex_fn modern_rdmacm_create_qp_ex(void);
rdmacm_create_srq_fn modern_rdmacm_create_srq(void);
rdmacm_create_srq_ex_fn modern_rdmacm_create_srq_ex(void);

/** modern_rdmacm_srq - where the SRQ is in the attributes of rdma_create_qp_ex. */
struct ibv_srq **modern_rdmacm_srq(void *attr);

/**
 * modern_rdmacm_check_srq - -EINVAL for an id without a device, and where an XRC SRQ is wanted (with attr: of
 * rdma_create_srq_ex, else by the id's type) for one that has its SRQ, or for a PD of another device; else 0.
 */
int modern_rdmacm_check_srq(const struct rdma_cm_id *id, const struct ibv_pd *pd, const void *attr);

/** modern_is_rdmacm - whether code at that address is librdmacm's own. */
bool modern_is_rdmacm(const void *address);

#endif
