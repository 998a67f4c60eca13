/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * rdma_create_qp of librdmacm.so.1. The library does not link with librdmacm, which is loaded if
 * the program or one of its plugins needs it.
 */
#ifndef MODERN_RDMACM_H
#define MODERN_RDMACM_H

#include <stdbool.h>
#include <infiniband/verbs.h>

struct rdma_cm_id;

typedef int (*rdmacm_create_qp_fn)(struct rdma_cm_id *id, struct ibv_pd *pd,
				   struct ibv_qp_init_attr *attr);

/*
 * Returns the function, or NULL. Looks it up at each call, because a plugin may be unloaded.
 * If the function is there, *is_librdmacm tells whether the code at @caller is librdmacm's.
 */
rdmacm_create_qp_fn modern_rdmacm_create_qp(const void *caller, bool *is_librdmacm);

#endif
