/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Modifies a half of an XRC QP by the old table of transitions (contract 5.9). */
#include "half.h"

#include <abi/rc_masks.h>
#include <modern/modern.h>

#include <errno.h>
#include <stdbool.h>

struct transition {
	bool valid;
	int required;
	int optional;
};

#define STATES (IBV_QPS_ERR + 1)
#define RTS_OPTIONAL \
	(IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE | \
	 IBV_QP_MIN_RNR_TIMER)

/* All transitions except those to RESET and ERR: see find_transition(). */
static const struct transition legacy_transitions[STATES][STATES] = {
	[IBV_QPS_RESET][IBV_QPS_INIT] = { .valid = true, .required = MASK_INIT },
	[IBV_QPS_INIT][IBV_QPS_INIT] = { .valid = true, .optional = MASK_INIT },
	[IBV_QPS_INIT][IBV_QPS_RTR] = {
		.valid = true, .required = MASK_RTR,
		.optional = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
	},
	[IBV_QPS_RTR][IBV_QPS_RTS] = {
		.valid = true, .required = MASK_RTS, .optional = RTS_OPTIONAL
	},
	[IBV_QPS_RTS][IBV_QPS_RTS] = { .valid = true, .optional = RTS_OPTIONAL },
	[IBV_QPS_RTS][IBV_QPS_SQD] = { .valid = true, .optional = IBV_QP_EN_SQD_ASYNC_NOTIFY },
	[IBV_QPS_SQD][IBV_QPS_RTS] = { .valid = true, .optional = RTS_OPTIONAL },
	[IBV_QPS_SQD][IBV_QPS_SQD] = {
		.valid = true,
		.optional = IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			    IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS |
			    IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE,
	},
	[IBV_QPS_SQE][IBV_QPS_RTS] = { .valid = true },
};

/* Each state goes to RESET, and each but RESET to ERR, by the state alone. */
static struct transition find_transition(enum ibv_qp_state from, enum ibv_qp_state to)
{
	if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET))
		return (struct transition){ .valid = true };
	return legacy_transitions[from][to];
}

/* Attributes of the other half: an initiator does not respond, a target does not request. */
static const int not_taken[] = {
	[HALF_INITIATOR] = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	[HALF_TARGET] = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
};

int half_mask(const struct half *half, const struct ibv_qp_attr *attr, int mask, int *modern_mask)
{
	enum ibv_qp_state from = mask & IBV_QP_CUR_STATE ? attr->cur_qp_state : half->state;
	enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
	struct transition transition;

	if ((unsigned)from >= STATES || (unsigned)to >= STATES)
		return -EINVAL;
	transition = find_transition(from, to);
	if (!transition.valid || (mask & transition.required) != transition.required ||
	    mask & ~(transition.required | transition.optional | IBV_QP_STATE))
		return -EINVAL;
	*modern_mask = mask & ~not_taken[half->role];
	return 0;
}

int half_query(struct half *half)
{
	struct ibv_qp_init_attr init_attr = { 0 };
	struct ibv_qp_attr attr = { 0 };
	int err = modern_query_qp(half->qp, &attr, IBV_QP_STATE | IBV_QP_PORT, &init_attr);

	if (err)
		return err;
	half->state = attr.qp_state;
	half->port = attr.port_num;
	return 0;
}

/*
 * OFED's mlx4 never looked at the ports of the address vectors, and MVAPICH2 1.7 leaves them 0.
 * Kernels since 3.14 compare them with the QP's own port and that of the alternate path.
 */
int half_set(const struct half *half, const struct ibv_qp_attr *attr, int modern_mask)
{
	struct ibv_qp_attr filled = *attr;

	if (modern_mask & IBV_QP_AV)
		filled.ah_attr.port_num = modern_mask & IBV_QP_PORT ? attr->port_num : half->port;
	if (modern_mask & IBV_QP_ALT_PATH)
		filled.alt_ah_attr.port_num = attr->alt_port_num;
	return modern_modify_qp(half->qp, &filled, modern_mask);
}

int half_modify(enum half_role role, struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct half half = { .qp = qp, .role = role };
	int modern_mask;
	int err = half_query(&half);

	if (!err)
		err = half_mask(&half, attr, mask, &modern_mask);
	return err ? err : half_set(&half, attr, modern_mask);
}
