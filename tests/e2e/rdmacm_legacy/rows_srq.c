/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Old SRQs given to librdmacm, and SRQs of librdmacm in an old domain. */

#define GROUP "srq"

#include <unistd.h>

#include "ids.h"
#include "today.h"

static struct rdma_cm_id *srq_id;
static struct ibv_xrc_domain *domain;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static char sent[TODAY_LENGTH], received[TODAY_LENGTH];
static uint32_t rcv_qpn;

static void modify_rcv_qp(struct rdma_cm_id *accepted, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	must_eq(rdma_init_qp_attr(accepted, &attr, &mask), 0);
	must_eq(ibv_modify_xrc_rcv_qp(domain, rcv_qpn, &attr, mask), 0);
}

/* Connects the old XRC QP of the sender to a new receive QP of the domain on device 1. */
static void connect_to_rcv_qp(void)
{
	struct rdma_conn_param param = CONN_PARAM;
	struct ibv_qp_init_attr attr = { .xrc_domain = domain };
	struct rdma_cm_id *accepted;

	must_eq(rdma_connect(routed, &param), 0);
	take_event(RDMA_CM_EVENT_CONNECT_REQUEST, &accepted);
	must_eq(ibv_create_xrc_rcv_qp(&attr, &rcv_qpn), 0);
	modify_rcv_qp(accepted, IBV_QPS_INIT);
	modify_rcv_qp(accepted, IBV_QPS_RTR);
	param.srq = 1;
	param.qp_num = rcv_qpn;
	must_eq(rdma_accept(accepted, &param), 0);
	take_event(RDMA_CM_EVENT_ESTABLISHED, NULL);
}

/* A sender on device 0, a receive QP of a domain of device 1, connected by rdma_cm. */
static void set_up(void)
{
	struct ibv_qp_init_attr attr;

	pd = ibv_alloc_pd(routed->verbs);
	must(pd);
	mr = ibv_reg_mr(pd, sent, TODAY_LENGTH, 0);
	must(mr);
	domain = ids_domain(listener);
	attr = ids_xrc_attr(routed, ids_domain(routed));
	must_eq(rdma_create_qp(routed, pd, &attr), 0);
	connect_to_rcv_qp();
	srq_id = ids_on_second_device();
}

static void send_to(uint32_t srq_num)
{
	struct ibv_sge sge = { (uintptr_t)sent, TODAY_LENGTH, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;

	strcpy(sent, "to the SRQ of an id");
	memset(received, 0, sizeof(received));
	wr.xrc_remote_srq_num = srq_num;
	must_eq(ibv_post_send(routed->qp, &wr, &bad), 0);
}

/* rdma_create_srq_ex with the XRCD of an old domain; CQ and channel are librdmacm's. */
ROW("librdmacm's SRQ in an old domain receives from an old QP")
{
	uint32_t srq_num = 0, from = 0;

	set_up();
	must_eq(today_create_srq(srq_id, domain, &srq_num), 0);
	for (int i = 0; i < 3; i++) {
		must_eq(today_post_recv(srq_id, received), 0);
		send_to(srq_num);
		must_eq(today_get_recv(srq_id, &from), 0);
		must_eq(from, rcv_qpn);
		must(!strcmp(sent, received));
	}
	must(srq_id->recv_cq_channel);
	must(srq_id->recv_cq);
	must_eq(ibv_unreg_xrc_rcv_qp(domain, rcv_qpn), 0);
	must_eq(ibv_close_xrc_domain(domain), EBUSY);
	today_destroy_srq(srq_id);
	must_eq(ibv_close_xrc_domain(domain), 0);
}

static struct ibv_srq *old_srq(struct ibv_cq **cq)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq;

	srq_id->pd = ibv_alloc_pd(srq_id->verbs);
	*cq = ibv_create_cq(srq_id->verbs, 4, NULL, NULL, 0);
	must(srq_id->pd);
	must(*cq);
	srq = ibv_create_xrc_srq(srq_id->pd, domain, *cq, &attr);
	must(srq);
	return srq;
}

/* rdma_post_recv and rdma_destroy_srq use srq_id->srq. */
ROW("an old SRQ as the id's SRQ receives, and rdma_destroy_srq destroys it")
{
	struct ibv_cq *cq;
	struct ibv_wc wc;

	set_up();
	srq_id->srq = old_srq(&cq);
	must_eq(today_post_recv(srq_id, received), 0);
	send_to(srq_id->srq->xrc_srq_num);
	while (!ibv_poll_cq(cq, 1, &wc))	/* the row's time limit ends this */
		usleep(1000);
	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(wc.qp_num, rcv_qpn);
	must(!strcmp(sent, received));
	must_eq(ibv_destroy_cq(cq), EBUSY);
	today_destroy_srq(srq_id);
	must(!srq_id->srq);
	must_eq(ibv_destroy_cq(cq), 0);
}

static void is_refused(int result)
{
	must_eq(result, -1);
	must_eq(errno, EINVAL);
	errno = 0;
}

/* The kernel refuses an XRC SRQ for an RC QP. */
ROW("rdma_create_qp refuses an old SRQ for an RC QP with EINVAL")
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC,
					 .cap = { .max_send_wr = 1, .max_send_sge = 1 } };
	struct ibv_srq *srq;
	struct ibv_cq *cq;

	set_up();
	srq = attr.srq = old_srq(&cq);
	attr.send_cq = attr.recv_cq = cq;
	errno = 0;
	is_refused(rdma_create_qp(srq_id, srq_id->pd, &attr));
	must(attr.srq == srq);
	srq_id->srq = srq;	/* librdmacm takes it if the attributes have none */
	attr.srq = NULL;
	is_refused(rdma_create_qp(srq_id, srq_id->pd, &attr));
	must_eq(ibv_destroy_srq(srq), 0);
}

/* The endpoint is on device 1. The QP's type is in the address information. */
static int create_ep(int type, struct ibv_qp_init_attr *attr)
{
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP,
				       .ai_qp_type = type,
				       .ai_src_addr = address(THERE, 0),
				       .ai_src_len = sizeof(struct sockaddr_in) }, *info;
	struct rdma_cm_id *made;

	must_eq(rdma_getaddrinfo(HERE, "7471", &hints, &info), 0);
	return rdma_create_ep(&made, info, srq_id->pd, attr);
}

ROW("rdma_create_ep refuses an old SRQ and an old XRC QP with EINVAL")
{
	struct ibv_qp_init_attr attr;
	struct ibv_srq *srq;
	struct ibv_cq *cq;

	set_up();
	srq = old_srq(&cq);
	attr = ids_xrc_attr(srq_id, domain);
	errno = 0;
	is_refused(create_ep(IBV_QPT_XRC, &attr));
	attr.srq = srq;
	is_refused(create_ep(IBV_QPT_XRC, &attr));
	is_refused(create_ep(IBV_QPT_RC, &attr));
	must(attr.srq == srq);
	must(attr.xrc_domain == domain);
	must_eq(ibv_destroy_srq(srq), 0);
}
