/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The kernel's commands for opened handles, by write(2).
 *
 * libibverbs has the same functions for its providers, but it changes them between releases. The
 * kernel keeps its commands stable. They fail with EACCES in a process whose credentials are not
 * those that opened the device.
 */
#ifndef MODERN_KERNEL_H
#define MODERN_KERNEL_H

#include <infiniband/verbs.h>

/*
 * Each returns 0 or a positive errno. The caller of open has set context, qp_context, qp_num and
 * qp_type; open sets handle, state, and what counts events. Query fills in all but rate_limit.
 */
int kernel_uverbs_open_qp(struct ibv_xrcd *xrcd, struct ibv_qp *qp);
int kernel_uverbs_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int kernel_uverbs_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr,
			   struct ibv_qp_init_attr *init_attr);

/* Waits for the acknowledgement of each event that the kernel has reported. */
int kernel_uverbs_destroy_qp(struct ibv_qp *qp);

#endif
