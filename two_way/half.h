/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What an old XRC QP did is split today: an XRC_SEND QP sends, an XRC_RECV QP receives. Old callers
 * pass the attributes and masks of both halves to each.
 */
#ifndef TWO_WAY_HALF_H
#define TWO_WAY_HALF_H

#include <infiniband/verbs.h>

enum half_role {
	HALF_INITIATOR, /* XRC_SEND */
	HALF_TARGET, /* XRC_RECV: a receive QP, or the hidden half of a two-way QP */
};

struct half {
	struct ibv_qp *qp;
	enum half_role role;
	enum ibv_qp_state state; /* this and the port: from half_query() */
	uint8_t port;
};

/* Asks the kernel for state and port. */
int half_query(struct half *half);

/*
 * Checks a mask by the old rules, then leaves out what today's kernel refuses. Returns 0 with
 * *modern_mask set, or -EINVAL: the transition is not allowed, a required bit is missing, or a bit
 * is not allowed (OFED 1.5.3 ib_modify_qp_is_ok; contract 5.9).
 * @attr: cur_qp_state and qp_state count if @mask says so
 */
int half_mask(const struct half *half, const struct ibv_qp_attr *attr, int mask, int *modern_mask);

/* Modifies by a mask of half_mask(). Fills in the ports of the address vectors. */
int half_set(const struct half *half, const struct ibv_qp_attr *attr, int modern_mask);

/* Calls half_query(), half_mask() and half_set() in a row. */
int half_modify(enum half_role role, struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask);

#endif
