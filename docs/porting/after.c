/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The same program with the XRC of today's libibverbs. */
#include "example.h"

static struct ibv_xrcd *open_domain(int fd)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = O_CREAT,
	};

	return NOT_NULL(ibv_open_xrcd(context, &attr));
}

static struct ibv_srq *create_srq(struct ibv_xrcd *domain)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = domain,
		.cq = cq,
	};
	struct ibv_srq *srq = NOT_NULL(ibv_create_srq_ex(context, &attr));

	NO_ERROR(ibv_get_srq_num(srq, &board->srq[rank]));
	return srq;
}

static struct ibv_qp *create_send_qp(void)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_SEND,
		.send_cq = cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct ibv_qp *qp = NOT_NULL(ibv_create_qp_ex(context, &attr));

	board->send_qp[rank] = qp->qp_num;
	return qp;
}

static void connect_send_qp(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = connection(peer);

	attr.qp_state = IBV_QPS_INIT;
	NO_ERROR(ibv_modify_qp(qp, &attr, TO_INIT));
	attr.qp_state = IBV_QPS_RTR;
	NO_ERROR(ibv_modify_qp(qp, &attr, TO_RTR));
	attr.qp_state = IBV_QPS_RTS;
	NO_ERROR(ibv_modify_qp(qp, &attr, TO_RTS));
}

static void send_to(struct ibv_qp *qp, int to)
{
	struct ibv_send_wr wr = { .qp_type.xrc.remote_srqn = board->srq[to] };

	post_send(qp, &wr, to);
}

static struct ibv_qp *create_recv_qp(struct ibv_xrcd *domain)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = domain,
	};
	struct ibv_qp *qp = NOT_NULL(ibv_create_qp_ex(context, &attr));

	board->recv_qp[rank] = qp->qp_num;
	return qp;
}

/* Any process that has a handle may do this. */
static void connect_recv_qp(struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = connection(peer);
	struct ibv_qp_init_attr init;

	attr.qp_state = IBV_QPS_INIT;
	NO_ERROR(ibv_modify_qp(qp, &attr, TO_INIT));
	attr.qp_state = IBV_QPS_RTR;
	NO_ERROR(ibv_modify_qp(qp, &attr,
			       TO_RTR | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
	NO_ERROR(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	need(attr.qp_state == IBV_QPS_RTR, "ibv_query_qp");
}

#ifndef TWO_WAY

/* Returns another handle of the QP, which lives until its last handle ends. */
static struct ibv_qp *open_recv_qp(struct ibv_xrcd *domain, uint32_t qp_num)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qp_num,
		.xrcd = domain,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	return NOT_NULL(ibv_open_qp(context, &attr));
}

/* A sender needs no domain any more. */
static void send_to_all(void)
{
	struct ibv_qp *qp = create_send_qp();

	wait_for_all();
	connect_send_qp(qp, board->recv_qp[1]);
	wait_for_all();
	for (int to = 1; to < PROCESSES; to++) {
		send_to(qp, to);
		complete(1, 0);
	}
	wait_for_all();
	NO_ERROR(ibv_destroy_qp(qp));
}

static void receive(void)
{
	struct ibv_xrcd *domain = open_domain(domain_fd);
	struct ibv_srq *srq = create_srq(domain);
	struct ibv_qp *qp = NULL;

	post_receive(srq);
	if (rank == 1)
		qp = create_recv_qp(domain);
	wait_for_all();
	if (rank == 1)
		connect_recv_qp(qp, board->send_qp[0]);
	else
		qp = open_recv_qp(domain, board->recv_qp[1]);
	wait_for_all();
	complete(1, qp->qp_num);
	wait_for_all();
	NO_ERROR(ibv_destroy_srq(srq));
	/*
	 * libmlx5 of rdma-core 40 to 65 crashes in ibv_destroy_qp of an opened handle. So leave the
	 * handle and its domain to ibv_close_device.
	 */
	if (rank == 1) {
		NO_ERROR(ibv_destroy_qp(qp));
		NO_ERROR(ibv_close_xrcd(domain));
	}
}

#else

/* One QP sends and one receives, so the processes exchange two numbers. */
static void send_and_receive(void)
{
	struct ibv_xrcd *domain = open_domain(-1);
	struct ibv_srq *srq = create_srq(domain);
	struct ibv_qp *send_qp = create_send_qp();
	struct ibv_qp *recv_qp = create_recv_qp(domain);

	post_receive(srq);
	wait_for_all();
	connect_send_qp(send_qp, board->recv_qp[!rank]);
	connect_recv_qp(recv_qp, board->send_qp[!rank]);
	wait_for_all();
	send_to(send_qp, !rank);
	complete(2, recv_qp->qp_num);
	wait_for_all();
	NO_ERROR(ibv_destroy_qp(send_qp));
	NO_ERROR(ibv_destroy_qp(recv_qp));
	NO_ERROR(ibv_destroy_srq(srq));
	NO_ERROR(ibv_close_xrcd(domain));
}

#endif
