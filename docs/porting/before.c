/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC as OFED 1.3 to 1.5 had it. Compile with $(pkg-config --cflags xrc-compat). */
#include "example.h"

static struct ibv_xrc_domain *open_domain(int fd)
{
	return NOT_NULL(ibv_open_xrc_domain(context, fd, O_CREAT));
}

static struct ibv_srq *create_srq(struct ibv_xrc_domain *domain)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = NOT_NULL(ibv_create_xrc_srq(pd, domain, cq, &attr));

	board->srq[rank] = srq->xrc_srq_num;
	return srq;
}

static struct ibv_qp *create_send_qp(struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_XRC,
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.xrc_domain = domain,
	};
	struct ibv_qp *qp = NOT_NULL(ibv_create_qp(pd, &attr));

	board->send_qp[rank] = qp->qp_num;
	return qp;
}

static void connect_send_qp(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = connection(peer);

	attr.qp_state = IBV_QPS_INIT;
	NO_ERROR(ibv_modify_qp(qp, &attr, TO_INIT));
	attr.qp_state = IBV_QPS_RTR;
	NO_ERROR(ibv_modify_qp(qp, &attr,
			       TO_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	attr.qp_state = IBV_QPS_RTS;
	NO_ERROR(ibv_modify_qp(qp, &attr, TO_RTS));
}

static void send_to(struct ibv_qp *qp, int to)
{
	struct ibv_send_wr wr = { .xrc_remote_srq_num = board->srq[to] };

	post_send(qp, &wr, to);
}

#ifndef TWO_WAY

/* The creator is registered. */
static void create_recv_qp(struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr attr = { .xrc_domain = domain };

	NO_ERROR(ibv_create_xrc_rcv_qp(&attr, &board->recv_qp[rank]));
}

/* Any process of the domain may do this. */
static void connect_recv_qp(struct ibv_xrc_domain *domain, uint32_t qp_num, uint32_t peer)
{
	struct ibv_qp_attr attr = connection(peer);
	struct ibv_qp_init_attr init;

	attr.qp_state = IBV_QPS_INIT;
	NO_ERROR(ibv_modify_xrc_rcv_qp(domain, qp_num, &attr, TO_INIT));
	attr.qp_state = IBV_QPS_RTR;
	NO_ERROR(ibv_modify_xrc_rcv_qp(domain, qp_num, &attr,
				       TO_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	NO_ERROR(ibv_query_xrc_rcv_qp(domain, qp_num, &attr, IBV_QP_STATE, &init));
	need(attr.qp_state == IBV_QPS_RTR, "ibv_query_xrc_rcv_qp");
}

static void send_to_all(void)
{
	struct ibv_xrc_domain *domain = open_domain(domain_fd);
	struct ibv_qp *qp = create_send_qp(domain);

	wait_for_all();
	connect_send_qp(qp, board->recv_qp[1]);
	wait_for_all();
	for (int to = 1; to < PROCESSES; to++) {
		send_to(qp, to);
		complete(1, 0);
	}
	wait_for_all();
	NO_ERROR(ibv_destroy_qp(qp));
	NO_ERROR(ibv_close_xrc_domain(domain));
}

/* The receivers share the QP that process 1 creates. The QP lives until the last unregisters. */
static void receive(void)
{
	struct ibv_xrc_domain *domain = open_domain(domain_fd);
	struct ibv_srq *srq = create_srq(domain);
	uint32_t qp_num;

	post_receive(srq);
	if (rank == 1)
		create_recv_qp(domain);
	wait_for_all();
	qp_num = board->recv_qp[1];
	if (rank == 1)
		connect_recv_qp(domain, qp_num, board->send_qp[0]);
	else
		NO_ERROR(ibv_reg_xrc_rcv_qp(domain, qp_num));
	wait_for_all();
	complete(1, qp_num);
	wait_for_all();
	NO_ERROR(ibv_unreg_xrc_rcv_qp(domain, qp_num));
	NO_ERROR(ibv_destroy_srq(srq));
	NO_ERROR(ibv_close_xrc_domain(domain));
}

#else

/* The domain has no file, because no other process shares it. */
static void send_and_receive(void)
{
	struct ibv_xrc_domain *domain = open_domain(-1);
	struct ibv_srq *srq = create_srq(domain);
	struct ibv_qp *qp = create_send_qp(domain);

	post_receive(srq);
	wait_for_all();
	connect_send_qp(qp, board->send_qp[!rank]);
	wait_for_all();
	send_to(qp, !rank);
	complete(2, qp->qp_num);
	wait_for_all();
	NO_ERROR(ibv_destroy_qp(qp));
	NO_ERROR(ibv_destroy_srq(srq));
	NO_ERROR(ibv_close_xrc_domain(domain));
}

#endif
