/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The same program with the XRC of today's libibverbs. */
#include "example.h"

static struct ibv_xrcd *open_domain(struct side *side, const char *file)
{
	int fd = open(file, O_RDWR);
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *domain = ibv_open_xrcd(side->context, &attr);

	need(domain != NULL, "ibv_open_xrcd");
	close(fd);
	return domain;
}

static struct ibv_srq *create_srq(struct side *side, struct ibv_xrcd *domain, uint32_t *number)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = side->pd,
		.xrcd = domain,
		.cq = side->cq,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(side->context, &attr);

	need(srq != NULL, "ibv_create_srq_ex");
	need(!ibv_get_srq_num(srq, number), "ibv_get_srq_num");
	return srq;
}

/* The creator holds it, by this handle. */
static struct ibv_qp *create_recv_qp(struct side *side, struct ibv_xrcd *domain)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = domain,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(side->context, &attr);

	need(qp != NULL, "ibv_create_qp_ex, XRC_RECV");
	return qp;
}

/* Any process that holds it may do this. */
static void connect_recv_qp(struct side *side, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = connection(side, IBV_QPS_INIT, peer);
	struct ibv_qp_init_attr init;

	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	need(errno == 0, "ibv_modify_qp to INIT");
	attr.qp_state = IBV_QPS_RTR;
	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	need(errno == 0, "ibv_modify_qp to RTR");
	errno = ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
	need(errno == 0 && attr.qp_state == IBV_QPS_RTR, "ibv_query_qp");
}

/* Another handle of the same QP, which lives until its last handle ends. */
static struct ibv_qp *register_with(struct side *side, struct ibv_xrcd *domain, uint32_t number)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = number,
		.xrcd = domain,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp *qp = ibv_open_qp(side->context, &attr);

	need(qp != NULL, "ibv_open_qp");
	return qp;
}

static struct ibv_qp *create_send_qp(struct side *side)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_SEND,
		.send_cq = side->cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = side->pd,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(side->context, &attr);

	need(qp != NULL, "ibv_create_qp_ex, XRC_SEND");
	return qp;
}

static void connect_send_qp(struct side *side, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = connection(side, IBV_QPS_INIT, peer);

	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	need(errno == 0, "ibv_modify_qp to INIT");
	attr.qp_state = IBV_QPS_RTR;
	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN);
	need(errno == 0, "ibv_modify_qp to RTR");
	attr.qp_state = IBV_QPS_RTS;
	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	need(errno == 0, "ibv_modify_qp to RTS");
}

static void send_to(struct side *side, struct ibv_qp *qp, int number, uint32_t srq_num)
{
	struct ibv_sge sge = { (uintptr_t)side->message[number], MESSAGE_SIZE, side->mr->lkey };
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	snprintf(side->message[number], MESSAGE_SIZE, "to receiver %d", number);
	memset(&wr, 0, sizeof(wr));
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.qp_type.xrc.remote_srqn = srq_num;
	errno = ibv_post_send(qp, &wr, &bad);
	need(errno == 0, "ibv_post_send");
	wait_completion(side, &wc);
}

void sender(struct side *side, struct board *board, const char *domain_file)
{
	struct ibv_qp *qp = create_send_qp(side);

	(void)domain_file; /* a sender needs no domain any more */
	board->send_qp = qp->qp_num;
	pthread_barrier_wait(&board->barrier);
	connect_send_qp(side, qp, board->recv_qp);
	pthread_barrier_wait(&board->barrier);
	for (int number = 0; number < RECEIVERS; number++)
		send_to(side, qp, number, board->srq_num[number]);
	pthread_barrier_wait(&board->barrier);
	need(!ibv_destroy_qp(qp), "ibv_destroy_qp");
}

static void post_receive(struct side *side, struct ibv_srq *srq)
{
	struct ibv_sge sge = { (uintptr_t)side->message[0], MESSAGE_SIZE, side->mr->lkey };
	struct ibv_recv_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.sg_list = &sge;
	wr.num_sge = 1;
	errno = ibv_post_srq_recv(srq, &wr, &bad);
	need(errno == 0, "ibv_post_srq_recv");
}

/*
 * libmlx5 of rdma-core 40 to 65 crashes in ibv_destroy_qp of an opened handle. ibv_close_device
 * ends the handle and the domain without libmlx5. Until then the handle keeps the domain busy.
 */
static void leave(struct ibv_xrcd *domain, struct ibv_qp *qp, bool created)
{
	if (!created)
		return;
	need(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	need(!ibv_close_xrcd(domain), "ibv_close_xrcd");
}

void receiver(struct side *side, struct board *board, const char *domain_file, int number)
{
	struct ibv_xrcd *domain = open_domain(side, domain_file);
	struct ibv_srq *srq = create_srq(side, domain, &board->srq_num[number]);
	struct ibv_qp *qp = NULL;
	struct ibv_wc wc;

	post_receive(side, srq);
	if (number == 0) {
		qp = create_recv_qp(side, domain);
		board->recv_qp = qp->qp_num;
	}
	pthread_barrier_wait(&board->barrier);
	if (number == 0)
		connect_recv_qp(side, qp, board->send_qp);
	else
		qp = register_with(side, domain, board->recv_qp);
	pthread_barrier_wait(&board->barrier);
	wait_completion(side, &wc);
	printf("receiver %d has the message %s, over the shared QP: %s\n", number, side->message[0],
	       wc.qp_num == board->recv_qp ? "yes" : "no");
	pthread_barrier_wait(&board->barrier);
	need(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	leave(domain, qp, number == 0);
}

int main(void)
{
	return run_example();
}
