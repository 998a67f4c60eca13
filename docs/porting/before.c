/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * XRC as OFED 1.3 to 1.5 had it. Compile with the header of that time:
 * cc $(pkg-config --cflags xrc-compat) ...
 */
#include "example.h"

static struct ibv_xrc_domain *open_domain(struct side *side, const char *file)
{
	int fd = open(file, O_RDWR);
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(side->context, fd, O_CREAT);

	need(domain != NULL, "ibv_open_xrc_domain");
	close(fd);
	return domain;
}

static struct ibv_srq *create_srq(struct side *side, struct ibv_xrc_domain *domain,
				  uint32_t *number)
{
	struct ibv_srq_init_attr attr;
	struct ibv_srq *srq;

	memset(&attr, 0, sizeof(attr));
	attr.attr.max_wr = 4;
	attr.attr.max_sge = 1;
	srq = ibv_create_xrc_srq(side->pd, domain, side->cq, &attr);
	need(srq != NULL, "ibv_create_xrc_srq");
	*number = srq->xrc_srq_num;
	return srq;
}

/* The creator is registered with it. */
static uint32_t create_recv_qp(struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr attr;
	uint32_t number;

	memset(&attr, 0, sizeof(attr));
	attr.xrc_domain = domain;
	errno = ibv_create_xrc_rcv_qp(&attr, &number);
	need(errno == 0, "ibv_create_xrc_rcv_qp");
	return number;
}

/* Any process of the domain may do this, by the number. */
static void connect_recv_qp(struct side *side, struct ibv_xrc_domain *domain, uint32_t number,
			    uint32_t peer)
{
	struct ibv_qp_attr attr = connection(side, IBV_QPS_INIT, peer);
	struct ibv_qp_init_attr init;

	errno = ibv_modify_xrc_rcv_qp(domain, number, &attr,
				      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					      IBV_QP_ACCESS_FLAGS);
	need(errno == 0, "ibv_modify_xrc_rcv_qp to INIT");
	attr.qp_state = IBV_QPS_RTR;
	errno = ibv_modify_xrc_rcv_qp(domain, number, &attr,
				      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
					      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
					      IBV_QP_MIN_RNR_TIMER);
	need(errno == 0, "ibv_modify_xrc_rcv_qp to RTR");
	errno = ibv_query_xrc_rcv_qp(domain, number, &attr, IBV_QP_STATE, &init);
	need(errno == 0 && attr.qp_state == IBV_QPS_RTR, "ibv_query_xrc_rcv_qp");
}

/* Without a registration the QP may be gone when its creator ends. */
static void register_with(struct ibv_xrc_domain *domain, uint32_t number)
{
	errno = ibv_reg_xrc_rcv_qp(domain, number);
	need(errno == 0, "ibv_reg_xrc_rcv_qp");
}

static struct ibv_qp *create_send_qp(struct side *side, struct ibv_xrc_domain *domain)
{
	struct ibv_qp_init_attr attr;
	struct ibv_qp *qp;

	memset(&attr, 0, sizeof(attr));
	attr.qp_type = IBV_QPT_XRC;
	attr.xrc_domain = domain;
	attr.send_cq = side->cq;
	attr.recv_cq = side->cq;
	attr.cap.max_send_wr = 4;
	attr.cap.max_send_sge = 1;
	qp = ibv_create_qp(side->pd, &attr);
	need(qp != NULL, "ibv_create_qp");
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
			      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
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
	wr.xrc_remote_srq_num = srq_num;
	errno = ibv_post_send(qp, &wr, &bad);
	need(errno == 0, "ibv_post_send");
	wait_completion(side, &wc);
}

void sender(struct side *side, struct board *board, const char *domain_file)
{
	struct ibv_xrc_domain *domain = open_domain(side, domain_file);
	struct ibv_qp *qp = create_send_qp(side, domain);

	board->send_qp = qp->qp_num;
	pthread_barrier_wait(&board->barrier);
	connect_send_qp(side, qp, board->recv_qp);
	pthread_barrier_wait(&board->barrier);
	for (int number = 0; number < RECEIVERS; number++)
		send_to(side, qp, number, board->srq_num[number]);
	pthread_barrier_wait(&board->barrier);
	need(!ibv_destroy_qp(qp), "ibv_destroy_qp");
	errno = ibv_close_xrc_domain(domain);
	need(errno == 0, "ibv_close_xrc_domain");
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

void receiver(struct side *side, struct board *board, const char *domain_file, int number)
{
	struct ibv_xrc_domain *domain = open_domain(side, domain_file);
	struct ibv_srq *srq = create_srq(side, domain, &board->srq_num[number]);
	struct ibv_wc wc;

	post_receive(side, srq);
	if (number == 0)
		board->recv_qp = create_recv_qp(domain);
	pthread_barrier_wait(&board->barrier);
	if (number == 0)
		connect_recv_qp(side, domain, board->recv_qp, board->send_qp);
	else
		register_with(domain, board->recv_qp);
	pthread_barrier_wait(&board->barrier);
	wait_completion(side, &wc);
	printf("receiver %d has the message %s, over the shared QP: %s\n", number, side->message[0],
	       wc.qp_num == board->recv_qp ? "yes" : "no");
	pthread_barrier_wait(&board->barrier);
	errno = ibv_unreg_xrc_rcv_qp(domain, board->recv_qp);
	need(errno == 0, "ibv_unreg_xrc_rcv_qp");
	need(!ibv_destroy_srq(srq), "ibv_destroy_srq");
	errno = ibv_close_xrc_domain(domain);
	need(errno == 0, "ibv_close_xrc_domain");
}

int main(void)
{
	return run_example();
}
