/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* State changes of QPs that the kernel refuses, one row each. */
#include "refusals.h"

static struct ibv_qp_attr good(struct objects *g, enum ibv_qp_state state)
{
	const struct ibv_qp_attr attr = {
		.qp_state = state, .port_num = 1, .path_mtu = IBV_MTU_1024, .dest_qp_num = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1, .ah_attr = { .dlid = g->host->lid, .port_num = 1 },
		.timeout = 10, .retry_cnt = 1,
		.rnr_retry = 1, .max_rd_atomic = 1, .cur_qp_state = IBV_QPS_RTS,
		/* no adapter has so many P_Keys */
		.alt_ah_attr = { .dlid = g->host->lid, .port_num = 1 }, .alt_port_num = 1,
		.alt_pkey_index = 1000,
	};

	return attr;
}

/* Attributes for this state, with one change. */
#define BUT(state, change) \
	({ \
		struct ibv_qp_attr changed = good(g, state); \
\
		changed.change; \
		changed; \
	})

#define SENDERS_RTR (MASK_RTR & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
#define TARGETS_RTS (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN)

/* Modifies a QP that has been brought to @from. */
static int modify(struct objects *g, struct ibv_qp *qp, enum ibv_qp_state from,
		  struct ibv_qp_attr attr, int mask)
{
	struct ibv_qp_attr init = good(g, IBV_QPS_INIT), rtr = good(g, IBV_QPS_RTR);

	if (from >= IBV_QPS_INIT)
		must_eq(ibv_modify_qp(qp, &init, MASK_INIT), 0);
	if (from >= IBV_QPS_RTR)
		must_eq(ibv_modify_qp(qp, &rtr, qp == g->send ? SENDERS_RTR : MASK_RTR), 0);
	return errno_of_result(ibv_modify_qp(qp, &attr, mask));
}

static int go(struct objects *g, struct ibv_qp *qp, enum ibv_qp_state from, enum ibv_qp_state to,
	      int mask)
{
	return modify(g, qp, from, good(g, to), mask);
}

static struct ibv_port_attr port_of(struct objects *g)
{
	struct ibv_port_attr port;

	must_eq(ibv_query_port(g->host->ctx, 1, &port), 0);
	return port;
}

static int rtr_with_gid(struct objects *g, int index)
{
	struct ibv_qp_attr attr = BUT(IBV_QPS_RTR, ah_attr.is_global = 1);

	attr.ah_attr.grh.sgid_index = (uint8_t)index;
	return modify(g, g->rc, IBV_QPS_INIT, attr, MASK_RTR);
}

CALL("modify: RESET to RTR", ALWAYS, EINVAL, go(g, g->rc, IBV_QPS_RESET, IBV_QPS_RTR, MASK_RTR))
CALL("modify: RESET to ERR", ALWAYS, EINVAL, go(g, g->rc, IBV_QPS_RESET, IBV_QPS_ERR, IBV_QP_STATE))
CALL("modify: INIT without a port", ALWAYS, EINVAL,
     go(g, g->rc, IBV_QPS_RESET, IBV_QPS_INIT, MASK_INIT & ~IBV_QP_PORT))
CALL("modify: INIT with a bit too many", ALWAYS, EINVAL,
     go(g, g->rc, IBV_QPS_RESET, IBV_QPS_INIT, MASK_INIT | IBV_QP_TIMEOUT))
CALL("modify: INIT on a port that is not there", ALWAYS, EINVAL,
     modify(g, g->rc, IBV_QPS_RESET, BUT(IBV_QPS_INIT, port_num = 2), MASK_INIT))
CALL("modify: INIT with a P_Key that is not there", ALWAYS, EINVAL,
     modify(g, g->rc, IBV_QPS_RESET,
	    BUT(IBV_QPS_INIT, pkey_index = port_of(g).pkey_tbl_len), MASK_INIT))

CALL("modify: RTR with a bad MTU", ALWAYS, EINVAL,
     modify(g, g->rc, IBV_QPS_INIT, BUT(IBV_QPS_RTR, path_mtu = 6), MASK_RTR))
CALL("modify: RTR with too many reads", ALWAYS, EINVAL,
     modify(g, g->rc, IBV_QPS_INIT, BUT(IBV_QPS_RTR, max_dest_rd_atomic = 17), MASK_RTR))
CALL("modify: RTR with a GID that is not there", ALWAYS, EINVAL,
     rtr_with_gid(g, port_of(g).gid_tbl_len))
CALL("modify: RTR with an alternate P_Key that is not there", ALWAYS | NOT_DRIVEN, EINVAL,
     go(g, g->rc, IBV_QPS_INIT, IBV_QPS_RTR, MASK_RTR | IBV_QP_ALT_PATH))
CALL("modify: RTR twice", ALWAYS, EINVAL, go(g, g->rc, IBV_QPS_RTR, IBV_QPS_RTR, MASK_RTR))
CALL("modify: wrong current state", ALWAYS, EINVAL,
     go(g, g->rc, IBV_QPS_RTR, IBV_QPS_RTS, MASK_RTS | IBV_QP_CUR_STATE))
/* uverbs ignores some bits of old masks for XRC QPs; the strict setting refuses them. */
CALL("modify: sender with the masks of old", USUAL | NO_OPEN_QP, 0,
     go(g, g->send, IBV_QPS_INIT, IBV_QPS_RTR, MASK_RTR))
CALL("modify: sender with the masks of old, strictly", STRICT, EINVAL,
     go(g, g->send, IBV_QPS_INIT, IBV_QPS_RTR, MASK_RTR))
CALL("modify: target with the masks of old", USUAL | NO_OPEN_QP, 0,
     go(g, g->recv, IBV_QPS_RTR, IBV_QPS_RTS, MASK_RTS))
CALL("modify: target with the masks of old, strictly", STRICT, EINVAL,
     go(g, g->recv, IBV_QPS_RTR, IBV_QPS_RTS, MASK_RTS))
CALL("modify: sender with its own masks", WITH_XRC, 0,
     go(g, g->send, IBV_QPS_RTR, IBV_QPS_RTS, MASK_RTS))
CALL("modify: target with its own masks", WITH_XRC, 0,
     go(g, g->recv, IBV_QPS_RTR, IBV_QPS_RTS, TARGETS_RTS))
CALL("modify: target without its RNR timer", WITH_XRC, EINVAL,
     go(g, g->recv, IBV_QPS_INIT, IBV_QPS_RTR, MASK_RTR & ~IBV_QP_MIN_RNR_TIMER))

CALL("limits: the most reads of the responder", LIMITED, 0,
     modify(g, g->rc, IBV_QPS_INIT, BUT(IBV_QPS_RTR, max_dest_rd_atomic = 4), MASK_RTR))
CALL("limits: one more read of the responder", LIMITED, EINVAL,
     modify(g, g->rc, IBV_QPS_INIT, BUT(IBV_QPS_RTR, max_dest_rd_atomic = 5), MASK_RTR))
CALL("limits: the most reads of the initiator", LIMITED, 0,
     modify(g, g->rc, IBV_QPS_RTR, BUT(IBV_QPS_RTS, max_rd_atomic = 8), MASK_RTS))
CALL("limits: one more read of the initiator", LIMITED, EINVAL,
     modify(g, g->rc, IBV_QPS_RTR, BUT(IBV_QPS_RTS, max_rd_atomic = 9), MASK_RTS))
