/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Portals4: the XRC patch of librdmacm. It took a QP without send queue for a receive QP, and drove that one through
 * all states of a connection, RTS too.
 */

#include <errno.h>
#include <string.h>

#include "portals4.h"

#define PSN 0x1234

static void modify(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int mask, const char *what)
{
	int result = id->qp ? ibv_modify_qp(id->qp, attr, mask) :
			      ibv_modify_xrc_rcv_qp(id->xrc_domain, id->xrc_rcv_qpn, attr, mask);

	if (result)
		job_die("%s to %s: %d (%s)", id->qp ? "ibv_modify_qp" : "ibv_modify_xrc_rcv_qp", what, result,
			strerror(result < 0 ? errno : result));
}

static void to_init(struct rdma_cm_id *id, int access)
{
	struct ibv_qp_attr attr;

	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = 0;
	attr.port_num = 1;
	attr.qp_access_flags = access;
	modify(id, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT");
}

/* Through INIT again first, as what was set when the QP was made were only defaults. */
static void to_rtr(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr;

	to_init(id, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = id->remote_qpn;
	attr.rq_psn = PSN;
	attr.max_dest_rd_atomic = 4;
	attr.min_rnr_timer = 12;
	attr.ah_attr.dlid = (uint16_t)id->remote_lid;
	attr.ah_attr.port_num = 1;
	modify(id, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, "RTR");
}

static void to_rts(struct rdma_cm_id *id)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.sq_psn = PSN;
	attr.max_rd_atomic = 4;
	modify(id, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	       IBV_QP_MAX_QP_RD_ATOMIC, "RTS");
}

static void to_state(struct rdma_cm_id *id, enum ibv_qp_state state, const char *what)
{
	struct ibv_qp_attr attr;

	attr.qp_state = state;
	modify(id, &attr, IBV_QP_STATE, what);
}

/* attr goes to ibv_create_xrc_rcv_qp as it is: with CQs, SRQ and capacities, which mean nothing there. */
void rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	id->xrc_domain = attr->xrc_domain;
	if (attr->qp_type == IBV_QPT_XRC && !attr->cap.max_send_wr)
		must_be_0(ibv_create_xrc_rcv_qp(attr, &id->xrc_rcv_qpn), "ibv_create_xrc_rcv_qp");
	else
		id->qp = must(ibv_create_qp(pd, attr), "ibv_create_qp");
	to_init(id, 0);
}

static void cm_send(const struct rdma_cm_id *id, int rank, enum cm_type type)
{
	struct cm_msg msg = { type, id->lid, id->qp ? id->qp->qp_num : id->xrc_rcv_qpn };

	job_send(JOB_CM, rank, &msg, sizeof(msg));
}

void rdma_connect(struct rdma_cm_id *id, int rank)
{
	cm_send(id, rank, CM_CONNECT_REQUEST);
}

void rdma_establish(struct rdma_cm_id *id, const struct cm_msg *response)
{
	id->remote_lid = response->lid;
	id->remote_qpn = response->qpn;
	to_rtr(id);
	to_rts(id);
	id->connected = 1;
}

void rdma_accept(struct rdma_cm_id *id, int rank, const struct cm_msg *request)
{
	id->remote_lid = request->lid;
	id->remote_qpn = request->qpn;
	to_rtr(id);
	to_rts(id);
	id->connected = 1;
	cm_send(id, rank, CM_CONNECT_RESPONSE);
}

void rdma_disconnect(struct rdma_cm_id *id)
{
	if (!id->qp)
		to_state(id, IBV_QPS_SQD, "SQD");
	to_state(id, IBV_QPS_ERR, "ERR");
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	if (id->qp)
		must_be_0(ibv_destroy_qp(id->qp), "ibv_destroy_qp");
	else
		must_be_0(ibv_unreg_xrc_rcv_qp(id->xrc_domain, id->xrc_rcv_qpn), "ibv_unreg_xrc_rcv_qp");
}
