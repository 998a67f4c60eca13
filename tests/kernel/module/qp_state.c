// SPDX-License-Identifier: GPL-2.0-only
/* The state machine of queue pairs: what mlx4_ib and mlx5_ib check when one is modified, and what they answer when asked. */

#include "lab.h"

static struct lab_qp *to_qp(struct ib_qp *ib)
{
	return container_of(ib, struct lab_qp, ib);
}

static bool port_ok(u32 port)
{
	return port >= 1 && port <= (u32)lab_limits.ports;
}

static bool path_ok(const struct rdma_ah_attr *attr)
{
	return !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH) || rdma_ah_read_grh(attr)->sgid_index < lab_limits.gids;
}

static bool values_ok(const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_PORT && !port_ok(attr->port_num))
		return false;
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= lab_limits.pkeys)
		return false;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > lab_limits.init_rd_atom)
		return false;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > lab_limits.rd_atom)
		return false;
	if (mask & IB_QP_PATH_MTU && (attr->path_mtu < IB_MTU_256 || attr->path_mtu > IB_MTU_4096))
		return false;
	if (mask & IB_QP_AV && !path_ok(&attr->ah_attr))
		return false;
	if (mask & IB_QP_ALT_PATH && (!port_ok(attr->alt_port_num) || attr->alt_pkey_index >= lab_limits.pkeys ||
				      !path_ok(&attr->alt_ah_attr)))
		return false;
	return true;
}

#define TAKE(bit, field)                                                                                               \
	do {                                                                                                           \
		if (mask & (bit))                                                                                      \
			to->field = from->field;                                                                       \
	} while (0)

static void take_path(struct ib_qp_attr *to, const struct ib_qp_attr *from, int mask)
{
	TAKE(IB_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IB_QP_PKEY_INDEX, pkey_index);
	TAKE(IB_QP_PORT, port_num);
	TAKE(IB_QP_QKEY, qkey);
	TAKE(IB_QP_AV, ah_attr);
	TAKE(IB_QP_PATH_MTU, path_mtu);
	TAKE(IB_QP_PATH_MIG_STATE, path_mig_state);
	TAKE(IB_QP_ALT_PATH, alt_ah_attr);
	TAKE(IB_QP_ALT_PATH, alt_pkey_index);
	TAKE(IB_QP_ALT_PATH, alt_port_num);
	TAKE(IB_QP_ALT_PATH, alt_timeout);
	/* As wide as the fields of an adapter are. */
	rdma_ah_set_sl(&to->ah_attr, rdma_ah_get_sl(&to->ah_attr) & 15);
	rdma_ah_set_path_bits(&to->ah_attr, rdma_ah_get_path_bits(&to->ah_attr) & 127);
	to->alt_timeout &= 31;
	/* The core lends these for the call only: they are not kept. */
	to->ah_attr.grh.sgid_attr = to->alt_ah_attr.grh.sgid_attr = NULL;
}

#define REMOTE (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* Stored as a logarithm. */
static u8 stored_rd_atomic(u8 asked)
{
	return roundup_pow_of_two(asked ?: 1);
}

static void take_transport(struct ib_qp_attr *to, const struct ib_qp_attr *from, int mask)
{
	TAKE(IB_QP_TIMEOUT, timeout);
	TAKE(IB_QP_RETRY_CNT, retry_cnt);
	TAKE(IB_QP_RNR_RETRY, rnr_retry);
	TAKE(IB_QP_RQ_PSN, rq_psn);
	TAKE(IB_QP_SQ_PSN, sq_psn);
	TAKE(IB_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IB_QP_DEST_QPN, dest_qp_num);
	TAKE(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	to->timeout &= 31;
	to->retry_cnt &= 7;
	to->rnr_retry &= 7;
	to->min_rnr_timer &= 31;
}

static bool transition_ok(const struct lab_qp *qp, enum ib_qp_state now, enum ib_qp_state next, int mask)
{
	if (!qp->object.device->model->sqd_from_rts && now == IB_QPS_RTS && next == IB_QPS_SQD)
		return false;
	return ib_modify_qp_is_ok(now, next, qp->ib.qp_type, mask);
}

int lab_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct lab_qp *qp = to_qp(ib);
	enum ib_qp_state now, next;

	if (mask & ~(IB_QP_STATE | (IB_QP_DEST_QPN - 1) | IB_QP_DEST_QPN))
		return -EOPNOTSUPP;
	now = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	next = mask & IB_QP_STATE ? attr->qp_state : now;
	/* The firmware compares what the caller believes with what is. */
	if (now != qp->state || !transition_ok(qp, now, next, mask) || !values_ok(attr, mask))
		return -EINVAL;
	take_path(&qp->attr, attr, mask);
	take_transport(&qp->attr, attr, mask);
	qp->state = next;
	if (next == IB_QPS_RESET)
		memset(&qp->attr, 0, sizeof(qp->attr));
	return 0;
}

int lab_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_qp_init_attr *init)
{
	const struct lab_qp *qp = to_qp(ib);

	*attr = qp->attr;
	attr->qp_state = attr->cur_qp_state = qp->state;
	attr->max_rd_atomic = stored_rd_atomic(qp->attr.max_rd_atomic);
	attr->max_dest_rd_atomic = stored_rd_atomic(qp->attr.max_dest_rd_atomic);
	/* Without responder resources only the right to write is stored. */
	attr->qp_access_flags &= qp->attr.max_dest_rd_atomic ? REMOTE : IB_ACCESS_REMOTE_WRITE;
	attr->cap = qp->cap;
	/* The provider knows these and fills them in. */
	attr->cap.max_send_wr = attr->cap.max_send_sge = attr->cap.max_inline_data = 0;
	memset(init, 0, sizeof(*init));
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq_sig_type;
	return 0;
}
