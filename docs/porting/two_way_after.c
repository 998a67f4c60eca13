/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The same today: one QP that sends, one that receives, in each process, and so two numbers to
 * exchange.
 */
#define RECEIVERS 1
#include "example.h"

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

static void connect_recv_qp(struct side *side, struct ibv_qp *qp, uint32_t peer)
{
	struct ibv_qp_attr attr = connection(side, IBV_QPS_INIT, peer);

	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	need(errno == 0, "ibv_modify_qp to INIT");
	attr.qp_state = IBV_QPS_RTR;
	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	need(errno == 0, "ibv_modify_qp to RTR");
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

static void post_receive(struct side *side, struct ibv_srq *srq)
{
	struct ibv_sge sge = { (uintptr_t)side->message[1], MESSAGE_SIZE, side->mr->lkey };
	struct ibv_recv_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.sg_list = &sge;
	wr.num_sge = 1;
	errno = ibv_post_srq_recv(srq, &wr, &bad);
	need(errno == 0, "ibv_post_srq_recv");
}

static void send_to(struct side *side, struct ibv_qp *qp, int number, uint32_t srq_num)
{
	struct ibv_sge sge = { (uintptr_t)side->message[0], MESSAGE_SIZE, side->mr->lkey };
	struct ibv_send_wr wr, *bad;

	snprintf(side->message[0], MESSAGE_SIZE, "from process %d", number);
	memset(&wr, 0, sizeof(wr));
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.qp_type.xrc.remote_srqn = srq_num;
	errno = ibv_post_send(qp, &wr, &bad);
	need(errno == 0, "ibv_post_send");
}

static void play(struct side *side, struct board *board, int number)
{
	const struct numbers *peer = &board->numbers[!number];
	struct numbers *own = &board->numbers[number];
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *domain = ibv_open_xrcd(side->context, &attr);
	struct ibv_qp *recv_qp, *send_qp;
	struct ibv_srq *srq;
	struct ibv_wc wc;

	need(domain != NULL, "ibv_open_xrcd");
	srq = create_srq(side, domain, &own->srq_num);
	recv_qp = create_recv_qp(side, domain);
	send_qp = create_send_qp(side);
	own->recv_qp = recv_qp->qp_num;
	own->send_qp = send_qp->qp_num;
	post_receive(side, srq);
	pthread_barrier_wait(&board->barrier);
	connect_recv_qp(side, recv_qp, peer->send_qp);
	connect_send_qp(side, send_qp, peer->recv_qp);
	pthread_barrier_wait(&board->barrier);
	send_to(side, send_qp, number, peer->srq_num);
	wait_completion(side, &wc);
	wait_completion(side, &wc);
	pthread_barrier_wait(&board->barrier);
	need(!strcmp(side->message[1], number ? "from process 0" : "from process 1"), "message");
	printf("both directions\n");
	need(!ibv_destroy_qp(send_qp) && !ibv_destroy_qp(recv_qp) && !ibv_destroy_srq(srq),
	     "destroying");
	need(!ibv_close_xrcd(domain), "ibv_close_xrcd");
}

void sender(struct side *side, struct board *board, const char *domain_file)
{
	(void)domain_file; /* nobody shares the domain, so it has no file */
	play(side, board, 0);
}

void receiver(struct side *side, struct board *board, const char *domain_file, int number)
{
	(void)domain_file;
	(void)number;
	play(side, board, 1);
}

int main(void)
{
	return run_example();
}
