/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What is refused when QPs change their state (contract 5.9). */
#include "refusals.h"

#include <errno.h>

#include <tests/rc_masks.h>

static struct ibv_qp_attr good_attr(struct objects *g, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {
		.qp_state = state, .port_num = 1, .path_mtu = IBV_MTU_1024, .dest_qp_num = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1, .ah_attr = { .dlid = g->host->lid, .port_num = 1 },
		.timeout = 10, .retry_cnt = 1,
		.rnr_retry = 1, .max_rd_atomic = 1,
	};

	return attr;
}

static int go(struct objects *g, struct ibv_qp *qp, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = good_attr(g, state);

	return errno_of_result(ibv_modify_qp(qp, &attr, mask));
}

static int init_port_2(struct objects *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_INIT);

	attr.port_num = 2;
	return errno_of_result(ibv_modify_qp(g->rc, &attr, MASK_INIT));
}

static struct ibv_port_attr port_of(struct objects *g)
{
	struct ibv_port_attr port;

	NEED(!ibv_query_port(g->host->ctx, 1, &port));
	return port;
}

static int init_pkey_beyond(struct objects *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_INIT);

	attr.pkey_index = (uint16_t)port_of(g).pkey_tbl_len;
	return errno_of_result(ibv_modify_qp(g->rc, &attr, MASK_INIT));
}

static int init_to_rtr(struct objects *g, struct ibv_qp_attr *attr)
{
	NEED(!go(g, g->rc, IBV_QPS_INIT, MASK_INIT));
	return errno_of_result(ibv_modify_qp(g->rc, attr, MASK_RTR));
}

static int rtr_bad_mtu(struct objects *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_RTR);

	attr.path_mtu = 6;
	return init_to_rtr(g, &attr);
}

static int rtr_too_many_reads(struct objects *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_RTR);

	attr.max_dest_rd_atomic = 17;
	return init_to_rtr(g, &attr);
}

static int rtr_bad_gid_index(struct objects *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_RTR);

	attr.ah_attr.is_global = 1;
	attr.ah_attr.grh.sgid_index = (uint8_t)port_of(g).gid_tbl_len;
	return init_to_rtr(g, &attr);
}

static int rtr_twice(struct objects *g)
{
	NEED(!go(g, g->rc, IBV_QPS_INIT, MASK_INIT) && !go(g, g->rc, IBV_QPS_RTR, MASK_RTR));
	return go(g, g->rc, IBV_QPS_RTR, MASK_RTR);
}

static int wrong_current_state(struct objects *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_RTS);

	NEED(!go(g, g->rc, IBV_QPS_INIT, MASK_INIT) && !go(g, g->rc, IBV_QPS_RTR, MASK_RTR));
	attr.cur_qp_state = IBV_QPS_RTS;
	return errno_of_result(ibv_modify_qp(g->rc, &attr, MASK_RTS | IBV_QP_CUR_STATE));
}

/* The P_Key index of the alternate path. No adapter has so many P_Keys. */
static int alternate_pkey_1000(struct objects *g)
{
	struct ibv_qp_attr attr = good_attr(g, IBV_QPS_RTR);

	NEED(!go(g, g->rc, IBV_QPS_INIT, MASK_INIT));
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_port_num = 1;
	attr.alt_pkey_index = 1000;
	return errno_of_result(ibv_modify_qp(g->rc, &attr, MASK_RTR | IBV_QP_ALT_PATH));
}

/* uverbs ignores some bits of old masks for XRC QPs; the strict setting refuses them. */
static int sender_legacy_rtr(struct objects *g)
{
	NEED(!go(g, g->send, IBV_QPS_INIT, MASK_INIT));
	return go(g, g->send, IBV_QPS_RTR, MASK_RTR);
}

static int target_legacy_rts(struct objects *g)
{
	NEED(!go(g, g->recv, IBV_QPS_INIT, MASK_INIT) && !go(g, g->recv, IBV_QPS_RTR, MASK_RTR));
	return go(g, g->recv, IBV_QPS_RTS, MASK_RTS);
}

static int sender_modern(struct objects *g)
{
	NEED(!go(g, g->send, IBV_QPS_INIT, MASK_INIT));
	NEED(!go(g, g->send, IBV_QPS_RTR,
		 MASK_RTR & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)));
	return go(g, g->send, IBV_QPS_RTS, MASK_RTS);
}

static int target_modern(struct objects *g)
{
	NEED(!go(g, g->recv, IBV_QPS_INIT, MASK_INIT) && !go(g, g->recv, IBV_QPS_RTR, MASK_RTR));
	return go(g, g->recv, IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN);
}

static int target_without_rnr_timer(struct objects *g)
{
	NEED(!go(g, g->recv, IBV_QPS_INIT, MASK_INIT));
	return go(g, g->recv, IBV_QPS_RTR, MASK_RTR & ~IBV_QP_MIN_RNR_TIMER);
}

void refusals_of_modify(struct refusals *run)
{
	ROW("modify: RESET to RTR", ALWAYS, EINVAL, go(g, g->rc, IBV_QPS_RTR, MASK_RTR));
	ROW("modify: RESET to ERR", ALWAYS, EINVAL, go(g, g->rc, IBV_QPS_ERR, IBV_QP_STATE));
	ROW("modify: INIT without a port", ALWAYS, EINVAL,
	    go(g, g->rc, IBV_QPS_INIT, MASK_INIT & ~IBV_QP_PORT));
	ROW("modify: INIT with a bit too many", ALWAYS, EINVAL,
	    go(g, g->rc, IBV_QPS_INIT, MASK_INIT | IBV_QP_TIMEOUT));
	ROW("modify: INIT on a port that is not there", ALWAYS, EINVAL, init_port_2(g));
	ROW("modify: INIT with a P_Key that is not there", ALWAYS, EINVAL, init_pkey_beyond(g));
	ROW("modify: RTR with a bad MTU", ALWAYS, EINVAL, rtr_bad_mtu(g));
	ROW("modify: RTR with too many reads", ALWAYS, EINVAL, rtr_too_many_reads(g));
	ROW("modify: RTR with a GID that is not there", ALWAYS, EINVAL, rtr_bad_gid_index(g));
	ROW("modify: RTR twice", ALWAYS, EINVAL, rtr_twice(g));
	ROW("modify: wrong current state", ALWAYS, EINVAL, wrong_current_state(g));
	ROW("modify: RTR with an alternate P_Key that is not there", ALWAYS | NOT_DRIVEN, EINVAL,
	    alternate_pkey_1000(g));
	ROW("modify: sender with the masks of old", USUAL | NO_OPEN_QP, 0, sender_legacy_rtr(g));
	ROW("modify: sender with the masks of old, strictly", STRICT, EINVAL, sender_legacy_rtr(g));
	ROW("modify: target with the masks of old", USUAL | NO_OPEN_QP, 0, target_legacy_rts(g));
	ROW("modify: target with the masks of old, strictly", STRICT, EINVAL, target_legacy_rts(g));
	ROW("modify: sender with its own masks", WITH_XRC, 0, sender_modern(g));
	ROW("modify: target with its own masks", WITH_XRC, 0, target_modern(g));
	ROW("modify: target without its RNR timer", WITH_XRC, EINVAL, target_without_rnr_timer(g));
}
