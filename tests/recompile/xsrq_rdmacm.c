/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * librdmacm in the XRC API of 2011, as its examples rdma_xserver and rdma_xclient used it: a QP
 * that receives for a domain, and an SRQ of the domain on another id, whose number the client
 * learns by a connection request. C and C++.
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

#define PROGRAM "xsrq rdma_cm"
#include "../holds.h"

#define LENGTH 16

static struct rdma_cm_id *listen_id, *conn_id, *srq_id;
static struct ibv_xrcd *xrcd;

static struct rdma_addrinfo *resolve(const char *port, int flags, enum ibv_qp_type type)
{
	struct rdma_addrinfo hints, *res;

	memset(&hints, 0, sizeof(hints));
	hints.ai_flags = flags;
	hints.ai_port_space = RDMA_PS_IB;
	hints.ai_qp_type = (int)type;
	HOLDS(!rdma_getaddrinfo("198.18.0.1", port, &hints, &res));
	return res;
}

/* ---- Server ---- */

static void listen_for_senders(void)
{
	struct rdma_addrinfo *res = resolve("7471", RAI_PASSIVE, IBV_QPT_XRC_RECV);
	struct ibv_qp_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	HOLDS(rdma_create_ep(&listen_id, res, NULL, &attr) == -1 && errno == EINVAL);
	HOLDS(!rdma_create_ep(&listen_id, res, NULL, NULL));
	rdma_freeaddrinfo(res);
	HOLDS(!rdma_listen(listen_id, 0));
}

/* Without a CQ in attr librdmacm creates one, with a channel. */
static void create_srq(void)
{
	struct rdma_addrinfo *res = resolve("7472", RAI_PASSIVE, IBV_QPT_UD);
	struct ibv_srq_init_attr attr;

	HOLDS(!rdma_create_ep(&srq_id, res, NULL, NULL));
	rdma_freeaddrinfo(res);
	HOLDS(xrcd = ibv_open_xrcd(srq_id->verbs, -1, 0));
	memset(&attr, 0, sizeof(attr));
	attr.srq_context = &srq_id;
	attr.attr.max_wr = attr.attr.max_sge = 1;
	attr.srq_type = IBV_SRQT_XRC;
	attr.ext.xrc.xrcd = xrcd;
	HOLDS(!rdma_create_srq(srq_id, NULL, &attr));
	HOLDS(srq_id->srq->ext.xrc.xrcd == xrcd);
	HOLDS(srq_id->srq->srq_context == &srq_id);
	HOLDS(srq_id->srq->ext.xrc.cq == srq_id->recv_cq);
	HOLDS(srq_id->recv_cq_channel);
	HOLDS(!rdma_listen(srq_id, 0));
}

static void create_recv_qp(void)
{
	struct ibv_qp_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_type = IBV_QPT_XRC_RECV;
	attr.ext.xrc_recv.xrcd = srq_id->srq->ext.xrc.xrcd;
	HOLDS(!rdma_create_qp(conn_id, NULL, &attr));
	HOLDS(conn_id->qp->qp_type == IBV_QPT_XRC_RECV);
}

static void answer_look_up(void)
{
	struct rdma_conn_param param;
	struct rdma_cm_id *lookup_id;

	HOLDS(!rdma_get_request(srq_id, &lookup_id));
	memset(&param, 0, sizeof(param));
	param.qp_num = srq_id->srq->ext.xrc.srq_num;
	HOLDS(!rdma_accept(lookup_id, &param));
	HOLDS(!rdma_destroy_id(lookup_id));
}

/* An ordinary SRQ of an id serves the QP of that id. */
static void ordinary_srq(void)
{
	struct rdma_addrinfo *res = resolve("7473", RAI_PASSIVE, IBV_QPT_RC);
	struct ibv_srq_init_attr attr;
	struct ibv_qp_init_attr qp_attr;
	struct rdma_cm_id *id;

	HOLDS(!rdma_create_ep(&id, res, NULL, NULL));
	rdma_freeaddrinfo(res);
	memset(&attr, 0, sizeof(attr));
	attr.attr.max_wr = attr.attr.max_sge = 1;
	HOLDS(!rdma_create_srq(id, NULL, &attr));
	HOLDS(id->srq->srq_type == IBV_SRQT_BASIC);
	HOLDS(rdma_create_srq(id, NULL, &attr) == -1 && errno == EINVAL);	/* it has one */
	memset(&qp_attr, 0, sizeof(qp_attr));
	qp_attr.cap.max_send_wr = qp_attr.cap.max_recv_wr = qp_attr.cap.max_send_sge = 1;
	qp_attr.qp_type = IBV_QPT_RC;
	HOLDS(!rdma_create_qp(id, NULL, &qp_attr));
	HOLDS(id->qp->srq);
	HOLDS(ibv_destroy_srq(id->srq) == EBUSY);
	rdma_destroy_qp(id);
	rdma_destroy_srq(id);
	HOLDS(!id->srq);
	HOLDS(!rdma_destroy_id(id));
}

static void receive(void)
{
	static char message[LENGTH];
	struct ibv_mr *mr = rdma_reg_msgs(srq_id, message, LENGTH);
	struct ibv_wc wc;

	HOLDS(mr);
	HOLDS(!rdma_post_recv(srq_id, NULL, message, LENGTH, mr));
	HOLDS(!rdma_accept(conn_id, NULL));
	answer_look_up();
	HOLDS(rdma_get_recv_comp(srq_id, &wc) == 1);
	HOLDS(wc.status == IBV_WC_SUCCESS);
	HOLDS(!strcmp(message, "by rdma_cm"));
	HOLDS(!rdma_dereg_mr(mr));
}

static void serve(void)
{
	HOLDS(!rdma_get_request(listen_id, &conn_id));
	create_srq();
	create_recv_qp();
	receive();
	ordinary_srq();
	rdma_disconnect(conn_id);
	HOLDS(ibv_close_xrcd(xrcd) == EBUSY);
	rdma_destroy_ep(conn_id);
	HOLDS(ibv_close_xrcd(xrcd) == EBUSY);
	rdma_destroy_ep(srq_id);	/* destroys its SRQ, too */
	HOLDS(!ibv_close_xrcd(xrcd));
	rdma_destroy_ep(listen_id);
}

/* ---- Client ---- */

static struct rdma_cm_id *connect_send_qp(void)
{
	struct rdma_addrinfo *res = resolve("7471", 0, IBV_QPT_XRC_SEND);
	struct ibv_qp_init_attr attr;
	struct rdma_cm_id *id;

	memset(&attr, 0, sizeof(attr));
	attr.cap.max_send_wr = attr.cap.max_send_sge = 1;
	attr.cap.max_inline_data = LENGTH;
	attr.sq_sig_all = 1;
	HOLDS(!rdma_create_ep(&id, res, NULL, &attr));
	rdma_freeaddrinfo(res);
	HOLDS(!rdma_connect(id, NULL));
	return id;
}

static uint32_t look_up(void)
{
	struct rdma_addrinfo *res = resolve("7472", 0, IBV_QPT_UD);
	struct rdma_cm_id *id;
	uint32_t srq_num;

	HOLDS(!rdma_create_ep(&id, res, NULL, NULL));
	rdma_freeaddrinfo(res);
	HOLDS(!rdma_connect(id, NULL));
	srq_num = id->event->param.ud.qp_num;
	rdma_destroy_ep(id);
	return srq_num;
}

static void send_to(struct rdma_cm_id *id, uint32_t srq_num)
{
	static char message[LENGTH] = "by rdma_cm";
	struct ibv_send_wr wr, *bad;
	struct ibv_sge sge;
	struct ibv_wc wc;

	memset(&sge, 0, sizeof(sge));
	sge.addr = (uintptr_t)message;
	sge.length = LENGTH;
	wr.wr_id = 0;
	wr.next = NULL;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_INLINE;
	wr.wr.xrc.remote_srqn = srq_num;
	HOLDS(!ibv_post_send(id->qp, &wr, &bad));
	HOLDS(rdma_get_send_comp(id, &wc) == 1);
	HOLDS(wc.status == IBV_WC_SUCCESS);
}

static void *client_main(void *arg)
{
	struct rdma_cm_id *id = connect_send_qp();

	send_to(id, look_up());
	rdma_disconnect(id);
	rdma_destroy_ep(id);
	return arg;
}

int main(void)
{
	pthread_t client;

	listen_for_senders();
	HOLDS(!pthread_create(&client, NULL, client_main, NULL));
	serve();
	HOLDS(!pthread_join(client, NULL));
	printf("xsrq rdma_cm: all right\n");
	return 0;
}
