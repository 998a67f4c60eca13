/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What programs ask about an id. */
#ifndef SOFTHCA_CM_QUERY_H
#define SOFTHCA_CM_QUERY_H

#include "cm.h"

#define CM_PATH_MTU	 IBV_MTU_4096
#define CM_PATH_LIFETIME 14 /* 4.096 us * 2^14 = 67 ms */

void cm_query_route(const struct cm_id *id, struct rdma_ucm_query_route_resp *resp);
void cm_query_addr(const struct cm_id *id, struct rdma_ucm_query_addr_resp *resp);
void cm_query_gid(const struct cm_id *id, struct rdma_ucm_query_addr_resp *resp);

/* Number of paths, 0 or 1; that one into @path. */
unsigned int cm_query_path(const struct cm_id *id, struct ib_path_rec_data *path);

/*
 * Attributes for the step of the id's queue pair to @state. 0, or -EINVAL when the connection is
 * not so far.
 */
int cm_query_qp_attr(struct cm_id *id, enum ibv_qp_state state, struct ib_uverbs_qp_attr *attr);

#endif
