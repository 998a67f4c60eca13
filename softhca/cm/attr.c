/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The attributes with which the queue pair of an id is taken through its states: as ib_cm gives
 * them for each type and state.
 */
#include "cm.h"

#include <softhca/base/refuse.h>

#include <errno.h>
#include <string.h>

#define ACK_TIMEOUT (CM_PATH_LIFETIME + 1) /* there and back */

static bool connecting(const struct cm_id *id)
{
	return id->link >= CM_REQ_SENT && id->link <= CM_ESTABLISHED;
}

/* An id that waits for an answer does not know its peer yet. */
static bool knows_peer(const struct cm_id *id)
{
	return connecting(id) && id->link != CM_REQ_SENT;
}

/* Also for an id that is not connected: its queue pair may be made before. */
static int init_attr(struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	attr->port_num = id->port;
	if (id->qp_type == IBV_QPT_UD) {
		attr->qkey = cm_sidr_qkey(id);
		attr->qp_attr_mask |= IBV_QP_QKEY;
		return 0;
	}
	attr->qp_attr_mask |= IBV_QP_ACCESS_FLAGS;
	if (id->link == CM_NO_LINK)
		return 0;
	if (!connecting(id))
		return refuse(-EINVAL, "id that is not connecting");
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	return 0;
}

static int rtr_attr(const struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	if (!knows_peer(id))
		return refuse(-EINVAL, "peer that is not known yet");
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN;
	cm_addr_vector_to_peer(id, &attr->ah_attr);
	attr->path_mtu = CM_PATH_MTU;
	attr->dest_qp_num = id->remote_qpn;
	attr->rq_psn = id->remote_psn;
	if (id->qp_type == IBV_QPT_RC || id->qp_type == IBV_QPT_XRC_RECV) {
		attr->qp_attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		attr->max_dest_rd_atomic = id->responder_resources;
	}
	return 0;
}

static int rts_attr(const struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	if (!knows_peer(id))
		return refuse(-EINVAL, "peer that is not known yet");
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	attr->sq_psn = id->psn;
	if (id->qp_type == IBV_QPT_RC || id->qp_type == IBV_QPT_XRC_SEND) {
		attr->qp_attr_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		attr->retry_cnt = id->retry_count;
		attr->rnr_retry = id->rnr_retry;
		attr->max_rd_atomic = id->initiator_depth;
	}
	if (id->qp_type != IBV_QPT_UC) {
		attr->qp_attr_mask |= IBV_QP_TIMEOUT;
		attr->timeout = id->ack_timeout < 0 ? ACK_TIMEOUT : (uint8_t)id->ack_timeout;
	}
	return 0;
}

int cm_query_qp_attr(struct cm_id *id, enum ibv_qp_state state, struct ib_uverbs_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	/* A datagram's queue pair needs nothing of a peer. */
	if (id->qp_type == IBV_QPT_UD || id->link == CM_NO_LINK)
		return init_attr(id, attr);
	switch (state) {
	case IBV_QPS_INIT:
		return init_attr(id, attr);
	case IBV_QPS_RTR:
		return rtr_attr(id, attr);
	case IBV_QPS_RTS:
		return rts_attr(id, attr);
	default:
		return refuse(-EINVAL, "state that no attributes are told for");
	}
}
