/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The two-way QP: an XRC_SEND QP with the visible number and an XRC_RECV QP beside it, acting as one.
 */
#ifndef COMPAT_XRC_PAIR_H
#define COMPAT_XRC_PAIR_H

#include <infiniband/verbs.h>

#include "pair.h"

struct xrc_pair {
	struct ibv_qp *ini;
	struct ibv_qp *tgt;
	enum pair_rule rule;	/* of this device, taken for the peer's too */
};

/**
 * xrc_pair_create - both QPs, numbers adjacent. attr->cap is updated.
 * -ERANGE: the device gave no neighbouring numbers in PAIR_ATTEMPTS tries. Otherwise as the kernel's.
 */
int xrc_pair_create(struct ibv_pd *pd, struct ibv_xrcd *xrcd, struct ibv_qp_init_attr *attr, struct xrc_pair *pair);

/** xrc_pair_modify - one transition of both. attr and mask as for an old XRC QP; dest_qp_num is the peer's visible. */
int xrc_pair_modify(const struct xrc_pair *pair, const struct ibv_qp_attr *attr, int mask);

/** xrc_pair_query - what one old QP would say: each attribute from the half that has it, ERR if either is. */
int xrc_pair_query(const struct xrc_pair *pair, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr);

/** xrc_pair_destroy - both halves of a pair that no program has. */
void xrc_pair_destroy(const struct xrc_pair *pair);

/** xrc_pair_fail - one half is in ERR: take the other there too. */
void xrc_pair_fail(const struct xrc_pair *pair);

#endif
