/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The numbers of a two-way QP: one is visible, the other follows from it.
 *
 * An old XRC QP was initiator and target under one number, and that is all its two ends exchange (qperf, MVAPICH 1.x).
 * Today these are two QPs. The visible number is the initiator's; the target's is its neighbour, so that a peer on any
 * host derives it with no further exchange. Both ends must be of one rule: the same family of adapter.
 */
#ifndef COMPAT_PAIR_H
#define COMPAT_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

/* mlx4 sets it on the number of every target QP, and on no other (kernel mlx4_qp_alloc users). */
#define PAIR_TARGET_TAG 0x800000u
#define PAIR_NUM_MASK 0xffffffu

enum pair_rule {
	PAIR_NEXT,	/* mlx5, hns, qedr: target = visible + 1 */
	PAIR_TAGGED,	/* mlx4: target = (visible + 1) | PAIR_TARGET_TAG */
};

/** pair_rule_of - the rule of a device. */
enum pair_rule pair_rule_of(struct ibv_context *context);

/** pair_target - the target's number behind a visible one. */
uint32_t pair_target(enum pair_rule rule, uint32_t visible);

/** pair_visible - the visible number in front of a target's, which has the tag if the rule says so. */
static inline uint32_t pair_visible(enum pair_rule rule, uint32_t target)
{
	/* No wrap-around to mask away: number 0 is nobody's, tagged or not. */
	return target - (rule == PAIR_TAGGED ? PAIR_TARGET_TAG + 1 : 1);
}

/** pair_fits - whether two numbers, freshly given out, make a pair. */
bool pair_fits(enum pair_rule rule, uint32_t initiator, uint32_t target);

#endif
