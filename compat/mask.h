/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Attribute masks of ibv_modify_qp: what an XRC QP's caller had to pass then, and what may be passed now.
 */
#ifndef COMPAT_MASK_H
#define COMPAT_MASK_H

#include <infiniband/verbs.h>

/** Which half of an old XRC QP the mask goes to. */
enum mask_role {
	MASK_INITIATOR,		/* XRC_SEND */
	MASK_TARGET,		/* XRC_RECV */
};

/**
 * mask_translate - check a mask by the old rules, then leave out what today's kernel refuses for the role.
 * @cur: the state the QP is in (IBV_QPS_RESET .. IBV_QPS_ERR); @attr: cur_qp_state and qp_state count if @mask says so
 * Returns 0 with *modern_mask set, or -EINVAL: transition not allowed, a required bit missing, or one too many
 * (OFED 1.5.3 ib_modify_qp_is_ok; contract 5.9).
 */
int mask_translate(enum mask_role role, enum ibv_qp_state cur, const struct ibv_qp_attr *attr, int mask,
		   int *modern_mask);

#endif
