/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Attribute masks: the old table of XRC transitions, and the bits each half no longer takes (contract 5.9). */

#include <errno.h>
#include <stdbool.h>

#include "mask.h"

struct transition {
	bool valid;
	int required;
	int optional;
};

#define STATES (IBV_QPS_ERR + 1)
#define INIT_BITS (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)

static const struct transition legacy_xrc[STATES][STATES] = {
	[IBV_QPS_RESET] = {
		[IBV_QPS_RESET] = { .valid = true },
		[IBV_QPS_INIT] = { .valid = true, .required = INIT_BITS },
	},
	[IBV_QPS_INIT] = {
		[IBV_QPS_RESET] = { .valid = true },
		[IBV_QPS_ERR] = { .valid = true },
		[IBV_QPS_INIT] = { .valid = true, .optional = INIT_BITS },
		[IBV_QPS_RTR] = {
			.valid = true,
			.required = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
			.optional = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
		},
	},
	[IBV_QPS_RTR] = {
		[IBV_QPS_RESET] = { .valid = true },
		[IBV_QPS_ERR] = { .valid = true },
		[IBV_QPS_RTS] = {
			.valid = true,
			.required = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
				    IBV_QP_MAX_QP_RD_ATOMIC,
			.optional = IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
				    IBV_QP_PATH_MIG_STATE,
		},
	},
	[IBV_QPS_RTS] = {
		[IBV_QPS_RESET] = { .valid = true },
		[IBV_QPS_ERR] = { .valid = true },
		[IBV_QPS_RTS] = {
			.valid = true,
			.optional = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE |
				    IBV_QP_MIN_RNR_TIMER,
		},
		[IBV_QPS_SQD] = { .valid = true, .optional = IBV_QP_EN_SQD_ASYNC_NOTIFY },
	},
	[IBV_QPS_SQD] = {
		[IBV_QPS_RESET] = { .valid = true },
		[IBV_QPS_ERR] = { .valid = true },
		[IBV_QPS_RTS] = {
			.valid = true,
			.optional = IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
				    IBV_QP_PATH_MIG_STATE,
		},
		[IBV_QPS_SQD] = {
			.valid = true,
			.optional = IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH |
				    IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER |
				    IBV_QP_PATH_MIG_STATE,
		},
	},
	[IBV_QPS_SQE] = {
		[IBV_QPS_RESET] = { .valid = true },
		[IBV_QPS_ERR] = { .valid = true },
		[IBV_QPS_RTS] = { .valid = true },
	},
	[IBV_QPS_ERR] = {
		[IBV_QPS_RESET] = { .valid = true },
		[IBV_QPS_ERR] = { .valid = true },
	},
};

/* Attributes of the other half: a sender has no responder resources, a target no requester. */
static const int not_taken[] = {
	[MASK_INITIATOR] = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	[MASK_TARGET] = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
};

int mask_translate(enum mask_role role, enum ibv_qp_state cur, const struct ibv_qp_attr *attr, int mask,
		   int *modern_mask)
{
	enum ibv_qp_state from = mask & IBV_QP_CUR_STATE ? attr->cur_qp_state : cur;
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	const struct transition *transition;

	if ((unsigned)from >= STATES || (unsigned)to >= STATES)
		return -EINVAL;
	transition = &legacy_xrc[from][to];
	if (!transition->valid || (mask & transition->required) != transition->required ||
	    mask & ~(transition->required | transition->optional | IBV_QP_STATE))
		return -EINVAL;
	*modern_mask = mask & ~not_taken[role];
	return 0;
}
