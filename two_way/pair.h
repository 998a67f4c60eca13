/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The two-way QP: an XRC_SEND QP that the program sees, and a hidden XRC_RECV QP.
 *
 * An old XRC QP sent and received under one number, and two programs exchange only that number
 * (qperf, MVAPICH 1.x). Today the initiator (XRC_SEND) and the target (XRC_RECV) are two QPs with
 * two numbers. The program gets the initiator's, which is the visible number. The target's number
 * follows from it by a rule of the adapter's family, so a peer on any host can compute it. Both
 * ends must have an adapter of the same family.
 */
#ifndef TWO_WAY_PAIR_H
#define TWO_WAY_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

/* mlx4 sets it on the number of each target QP, and no other (kernel: callers of mlx4_qp_alloc). */
#define PAIR_TARGET_TAG 0x800000u

enum pair_rule {
	PAIR_NEXT,	/* mlx5, hns, qedr: target = visible + 1 */
	PAIR_TAGGED,	/* mlx4: target = (visible + 1) | PAIR_TARGET_TAG */
};

enum pair_rule pair_rule_of(struct ibv_context *context);

/* Returns the target's number behind a visible one. */
uint32_t pair_target(enum pair_rule rule, uint32_t visible);

/* Returns the visible number before a target's. It is the inverse of pair_target(). */
static inline uint32_t pair_visible(enum pair_rule rule, uint32_t target)
{
	/* This does not wrap, because no target has number 0, with or without the tag. */
	return target - (rule == PAIR_TAGGED ? PAIR_TARGET_TAG + 1 : 1);
}

/* Whether the numbers of two new QPs make a pair. */
bool pair_fits(enum pair_rule rule, uint32_t initiator, uint32_t target);

struct pair {
	struct ibv_qp *ini;
	struct ibv_qp *tgt;
	enum pair_rule rule;	/* of this device; the peer's must be the same */
};

/*
 * Creates both QPs, with numbers that fit, and updates attr->cap. Returns 0, -ERANGE if no
 * attempt gave numbers that fit, or the kernel's -errno.
 */
int pair_create(struct ibv_pd *pd, struct ibv_xrcd *xrcd, struct ibv_qp_init_attr *attr,
		struct pair *pair);

/* Modifies both halves as an old XRC QP; dest_qp_num is the peer's visible number. */
int pair_modify(const struct pair *pair, const struct ibv_qp_attr *attr, int mask);

/* Queries both halves as one old QP, which is in ERR if either half is. */
int pair_query(const struct pair *pair, struct ibv_qp_attr *attr, int mask,
	       struct ibv_qp_init_attr *init_attr);

/* Destroys the halves of a pair that the program never got. tgt may be NULL. */
void pair_destroy(const struct pair *pair);

/* Modifies both halves to ERR, because one of them is there. */
void pair_fail(const struct pair *pair);

#endif
