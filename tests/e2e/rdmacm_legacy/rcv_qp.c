/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A receive QP at the other end. It has a file of its own, because the shim treats a program that
 * imports these functions as one-way.
 */

#include "ids.h"

static void modify_rcv_qp(struct rdma_cm_id *id, struct ibv_xrc_domain *domain, uint32_t qpn,
			  enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	must_eq(rdma_init_qp_attr(id, &attr, &mask), 0);
	must_eq(ibv_modify_xrc_rcv_qp(domain, qpn, &attr, mask), 0);
}

uint32_t ids_connect(struct rdma_cm_id *id, struct rdma_cm_id *listener,
		     struct ibv_xrc_domain *domain)
{
	struct rdma_conn_param param = CONN_PARAM;
	struct ibv_qp_init_attr attr = { .xrc_domain = domain };
	struct rdma_cm_id *accepted;

	must_eq(rdma_connect(id, &param), 0);
	accepted = ids_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST);
	must_eq(ibv_create_xrc_rcv_qp(&attr, &param.qp_num), 0);
	modify_rcv_qp(accepted, domain, param.qp_num, IBV_QPS_INIT);
	modify_rcv_qp(accepted, domain, param.qp_num, IBV_QPS_RTR);
	param.srq = 1;
	must_eq(rdma_accept(accepted, &param), 0);
	ids_event(id, RDMA_CM_EVENT_ESTABLISHED);
	return param.qp_num;
}
