/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * An old program without receive QPs, as qperf and MVAPICH 1.x were, but connected by rdma_cm. Both
 * ends make an old XRC QP, get the other's number by rdma_cm, and send.
 */

#include "ids.h"

#define LENGTH 24

struct end {
	struct rdma_cm_id *id;
	struct ibv_xrc_domain *domain;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_mr *mr;
	char sent[LENGTH], received[LENGTH];
};

static struct end ends[2];

static void make_end(struct end *end, struct rdma_cm_id *id)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr attr;

	end->id = id;
	end->domain = ids_domain(id);
	end->pd = ibv_alloc_pd(id->verbs);
	must(end->pd);
	attr = ids_xrc_attr(id, end->domain);
	end->cq = attr.recv_cq;
	must_eq(rdma_create_qp(id, end->pd, &attr), 0);
	end->srq = ibv_create_xrc_srq(end->pd, end->domain, end->cq, &srq_attr);
	must(end->srq);
	end->mr = ibv_reg_mr(end->pd, end, sizeof(*end), IBV_ACCESS_LOCAL_WRITE);
	must(end->mr);
}

static void connect_both(void)
{
	struct rdma_conn_param param = CONN_PARAM;
	struct rdma_cm_id *child;

	ground_lay();
	make_end(&ends[0], routed);
	must_eq(rdma_connect(routed, &param), 0);
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	make_end(&ends[1], child);
	must_eq(rdma_accept(child, &param), 0);
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
}

static void expect_completion(struct end *end, enum ibv_wc_opcode want)
{
	struct ibv_wc wc = ids_completion(end->cq);

	must_eq(wc.opcode, want);
	must_eq(wc.qp_num, end->id->qp->qp_num);
}

static void send_from(struct end *from, struct end *to, char text)
{
	struct ibv_sge sent = { (uintptr_t)from->sent, LENGTH, from->mr->lkey };
	struct ibv_sge received = { (uintptr_t)to->received, LENGTH, to->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sent, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr recv_wr = { .sg_list = &received, .num_sge = 1 }, *bad_recv;

	memset(from->sent, text, LENGTH);
	must_eq(ibv_post_srq_recv(to->srq, &recv_wr, &bad_recv), 0);
	wr.xrc_remote_srq_num = to->srq->xrc_srq_num;
	must_eq(ibv_post_send(from->id->qp, &wr, &bad), 0);
	expect_completion(from, IBV_WC_SEND);
	expect_completion(to, IBV_WC_RECV);
	must(!memcmp(from->sent, to->received, LENGTH));
}

static void destroy_end(struct end *end)
{
	rdma_destroy_qp(end->id);
	must_eq(ibv_destroy_srq(end->srq), 0);
	must_eq(ibv_destroy_cq(end->cq), 0);
	must_eq(ibv_close_xrc_domain(end->domain), 0);
}

ROW("both ends send on the QP that rdma_cm connected")
{
	connect_both();
	send_from(&ends[0], &ends[1], 'a');
	send_from(&ends[1], &ends[0], 'b');
	send_from(&ends[0], &ends[1], 'c');
	must_eq(rdma_disconnect(ends[0].id), 0);
	destroy_end(&ends[0]);
	destroy_end(&ends[1]);
}

/* A one-way program gets EINVAL for max_send_wr 0; in a two-way program such a QP receives. */
ROW("a receive-only QP is created")
{
	struct ibv_qp_init_attr attr;

	ground_lay();
	attr = ids_xrc_attr(bound, ids_domain(bound));
	attr.cap.max_send_wr = attr.cap.max_send_sge = 0;
	must_eq(rdma_create_qp(bound, ibv_alloc_pd(bound->verbs), &attr), 0);
	rdma_destroy_qp(bound);
}
