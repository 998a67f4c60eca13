/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program without receive QPs, as qperf and MVAPICH 1.x were, but connected by rdma_cm. Both
 * sides make an old XRC QP, get the other's number by rdma_cm, and send.
 */

#include "../xrc_qps/two_way/pair.h"
/* ids.h has its own. */
#undef ROW_BEFORE
#undef ROW_AFTER

#include "ids.h"

static void make_side(struct side *side, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr;

	side_use(side, id->verbs, -1, false);
	side_create_srq(side);
	attr = ids_xrc_attr(id, side->domain);
	attr.send_cq = attr.recv_cq = side->cq;
	must_eq(rdma_create_qp(id, side->pd, &attr), 0);
	side->qp = id->qp;
}

static void destroy_side(struct side *side, struct rdma_cm_id *id)
{
	rdma_destroy_qp(id);
	must_eq(ibv_destroy_srq(side->srq), 0);
	must_eq(ibv_destroy_cq(side->cq), 0);
	must_eq(ibv_close_xrc_domain(side->domain), 0);
}

ROW("both sides send on the QP that rdma_cm connected")
{
	struct rdma_conn_param param = CONN_PARAM;
	struct rdma_cm_id *child;

	make_side(&a, routed);
	must_eq(rdma_connect(routed, &param), 0);
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	make_side(&b, child);
	must_eq(rdma_accept(child, &param), 0);
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
	meet();
	both_ways();
	both_ways();
	must_eq(rdma_disconnect(routed), 0);
	destroy_side(&a, routed);
	destroy_side(&b, child);
}

/* A one-way program gets EINVAL for max_send_wr 0; in a two-way program such a QP receives. */
ROW("a receive-only QP is created")
{
	struct ibv_qp_init_attr attr = ids_xrc_attr(bound, ids_domain(bound));

	attr.cap.max_send_wr = attr.cap.max_send_sge = 0;
	must_eq(rdma_create_qp(bound, ibv_alloc_pd(bound->verbs), &attr), 0);
	rdma_destroy_qp(bound);
}
