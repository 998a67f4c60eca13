/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The numbers of a two-way QP. */

#include <modern/modern.h>

#include "pair.h"

/* By the device: numbers of mlx5 may have the bit that is mlx4's tag. */
enum pair_rule pair_rule_of(struct ibv_context *context)
{
	return modern_tags_tgt_qps(context) ? PAIR_TAGGED : PAIR_NEXT;
}

uint32_t pair_target(enum pair_rule rule, uint32_t visible)
{
	uint32_t next = (visible + 1) & PAIR_NUM_MASK;

	return rule == PAIR_TAGGED ? next | PAIR_TARGET_TAG : next;
}

bool pair_fits(enum pair_rule rule, uint32_t initiator, uint32_t target)
{
	/* Both ways, so that a neighbour that wrapped into the tag, and has no way back, is no pair. */
	return pair_target(rule, initiator) == target && pair_visible(rule, target) == initiator;
}
