/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A program in the XRC API of 2011, as its manual pages show it: a domain of a file, an XRC SRQ and
 * an XRC_RECV QP on one device, an XRC_SEND QP on another; then calls that must be refused. C and
 * C++.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "../../abi/rc_masks.h"

#define PROGRAM "xsrq"
#include "../holds.h"

#ifndef IBV_XRC_OPS
#error "configure scripts of the time would not have found the API"
#endif

#define LENGTH 32
#define LIMIT 1

struct end {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint16_t lid;
	char buffer[LENGTH];
};

static struct end receiver, sender;
static struct ibv_xrcd *xrcd;
static struct ibv_srq *srq;

static void open_end(struct end *end, struct ibv_device *device)
{
	struct ibv_port_attr port;

	end->context = ibv_open_device(device);
	HOLDS(end->context);
	HOLDS(!ibv_query_port(end->context, 1, &port));
	end->lid = port.lid;
	HOLDS(end->pd = ibv_alloc_pd(end->context));
	HOLDS(end->cq = ibv_create_cq(end->context, 8, NULL, NULL, 0));
	HOLDS(end->mr = ibv_reg_mr(end->pd, end->buffer, LENGTH, IBV_ACCESS_LOCAL_WRITE));
}

static void open_both(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	HOLDS(list);
	HOLDS(count >= 2);
	open_end(&receiver, list[0]);
	open_end(&sender, list[1]);
	ibv_free_device_list(list);
}

static void open_domain(void)
{
	FILE *file = tmpfile();

	HOLDS(file);
	HOLDS(!ibv_open_xrcd(receiver.context, fileno(file), 0) && errno == EAGAIN);
	HOLDS(xrcd = ibv_open_xrcd(receiver.context, fileno(file), O_CREAT));
	fclose(file);
}

static struct ibv_srq_init_attr xsrq_attr(struct ibv_xrcd *domain, struct ibv_cq *cq,
					  uint32_t max_wr)
{
	struct ibv_srq_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.srq_context = &receiver;
	attr.attr.max_wr = max_wr;
	attr.attr.max_sge = 1;
	attr.srq_type = IBV_SRQT_XRC;
	attr.ext.xrc.xrcd = domain;
	attr.ext.xrc.cq = cq;
	return attr;
}

static void create_xsrq(void)
{
	struct ibv_srq_init_attr attr = xsrq_attr(xrcd, receiver.cq, 5);
	struct ibv_srq_attr actual;
	uint32_t number = 0;

	errno = EDOM;
	HOLDS((srq = ibv_create_xsrq(receiver.pd, &attr)) && errno == EDOM);
	HOLDS(!ibv_query_srq(srq, &actual));
	HOLDS(attr.attr.max_wr > 5);
	HOLDS(attr.attr.max_wr <= actual.max_wr);
	HOLDS(srq->context == receiver.context);
	HOLDS(srq->pd == receiver.pd);
	HOLDS(srq->srq_context == &receiver);
	HOLDS(srq->ext.xrc.xrcd == xrcd);
	HOLDS(srq->ext.xrc.cq == receiver.cq);
	HOLDS(!ibv_get_srq_num(srq, &number));
	HOLDS(number == srq->ext.xrc.srq_num);
}

static void refuse_xsrq(struct ibv_xrcd *domain, struct ibv_cq *cq, uint32_t max_wr)
{
	struct ibv_srq_init_attr attr = xsrq_attr(domain, cq, max_wr);

	errno = 0;
	HOLDS(!ibv_create_xsrq(receiver.pd, &attr) && errno == EINVAL);
}

static void create_recv_qp(void)
{
	struct ibv_qp_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_type = IBV_QPT_XRC_RECV;
	errno = 0;
	HOLDS(!ibv_create_qp(receiver.pd, &attr) && errno == EINVAL);
	attr.ext.xrc_recv.xrcd = xrcd;
	HOLDS(receiver.qp = ibv_create_qp(NULL, &attr));
	HOLDS(receiver.qp->qp_type == IBV_QPT_XRC_RECV);
}

static void create_send_qp(void)
{
	struct ibv_qp_init_attr attr, queried;
	struct ibv_qp_attr state;

	memset(&attr, 0, sizeof(attr));
	attr.qp_context = &sender;
	attr.send_cq = sender.cq;
	attr.cap.max_send_wr = 4;
	attr.cap.max_send_sge = 1;
	attr.qp_type = IBV_QPT_XRC_SEND;
	attr.sq_sig_all = 1;
	HOLDS(sender.qp = ibv_create_qp(sender.pd, &attr));
	HOLDS(attr.cap.max_send_wr >= 4);
	HOLDS(!ibv_query_qp(sender.qp, &state, IBV_QP_STATE, &queried));
	HOLDS(queried.qp_type == IBV_QPT_XRC_SEND);
	HOLDS(queried.cap.max_send_wr == attr.cap.max_send_wr);
}

static void to_init_and_rtr(struct end *end, const struct end *peer)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	HOLDS(!ibv_modify_qp(end->qp, &attr, MASK_INIT));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = peer->qp->qp_num;
	attr.ah_attr.dlid = peer->lid;
	attr.ah_attr.port_num = 1;
	attr.min_rnr_timer = 12;
	HOLDS(!ibv_modify_qp(end->qp, &attr, MASK_RTR));
}

static void sender_to_rts(void)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	HOLDS(!ibv_modify_qp(sender.qp, &attr, MASK_RTS));
}

static struct ibv_sge sge_of(struct end *end)
{
	struct ibv_sge sge;

	sge.addr = (uintptr_t)end->buffer;
	sge.length = LENGTH;
	sge.lkey = end->mr->lkey;
	return sge;
}

/* Waits for a completion for 30 s at least: each empty poll takes a millisecond or more. */
static void wait_for_completion(struct end *end, struct ibv_wc *wc)
{
	int polled, tries = 0;

	while (!(polled = ibv_poll_cq(end->cq, 1, wc)) && tries++ < 30000)
		usleep(1000);
	HOLDS(polled == 1);
	HOLDS(wc->status == IBV_WC_SUCCESS);
}

static void post_receive(void)
{
	struct ibv_sge sge = sge_of(&receiver);
	struct ibv_recv_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = 7;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	HOLDS(!ibv_post_srq_recv(srq, &wr, &bad));
}

/* Sets only what the operation needs, as rdma_xclient did. */
static void send_one(void)
{
	struct ibv_sge sge = sge_of(&sender);
	struct ibv_send_wr wr, *bad;
	struct ibv_wc wc;

	strcpy(sender.buffer, "by the SRQ's number");
	wr.wr_id = 9;
	wr.next = NULL;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = 0;
	HOLDS(!ibv_get_srq_num(srq, &wr.wr.xrc.remote_srqn));
	HOLDS(!ibv_post_send(sender.qp, &wr, &bad));
	wait_for_completion(&sender, &wc);
	HOLDS(wc.wr_id == 9);
	wait_for_completion(&receiver, &wc);
	HOLDS(wc.wr_id == 7);
	HOLDS(wc.byte_len == LENGTH);
	HOLDS(wc.qp_num == receiver.qp->qp_num);
	HOLDS(!strcmp(receiver.buffer, sender.buffer));
}

/*
 * The event names the program's SRQ. If the acknowledgement were not counted, ibv_destroy_srq would
 * not return.
 */
static void limit_event(void)
{
	struct ibv_srq_attr attr, queried;
	struct ibv_async_event event;

	post_receive();
	memset(&attr, 0, sizeof(attr));
	attr.srq_limit = LIMIT;
	HOLDS(!ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	HOLDS(!ibv_query_srq(srq, &queried));
	HOLDS(queried.srq_limit == LIMIT);
	send_one();
	HOLDS(!ibv_get_async_event(receiver.context, &event));
	if (event.event_type == IBV_EVENT_COMM_EST) {	/* of the first message */
		HOLDS(event.element.qp == receiver.qp);
		ibv_ack_async_event(&event);
		HOLDS(!ibv_get_async_event(receiver.context, &event));
	}
	HOLDS(event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED);
	HOLDS(event.element.srq == srq);
	HOLDS(event.element.srq->srq_context == &receiver);
	ibv_ack_async_event(&event);
}

/*
 * A library that is compiled with today's header shares the device. Its events name the provider's
 * SRQ.
 */
static void limit_event_of_another_library(void)
{
	struct ibv_srq_init_attr attr = xsrq_attr(xrcd, receiver.cq, 5);
	struct ibv_srq *programs = srq;
	struct ibv_srq_init_attr_ex ex;

	xsrq_fill_attr_ex(&ex, receiver.pd, &attr);
	HOLDS(srq = (struct ibv_srq *)xsrq_create_real(&ex));
	srq->srq_context = &receiver;
	limit_event();
	HOLDS(!ibv_destroy_srq(srq));
	srq = programs;
}

/* An ordinary SRQ, created by either function, and an RC QP that uses it. */
static void ordinary_srq(int by_xsrq)
{
	struct ibv_srq_init_attr attr;
	struct ibv_qp_init_attr qp_attr;
	struct ibv_srq *basic;
	struct ibv_qp *qp;

	memset(&attr, by_xsrq ? 0 : 0xa5, sizeof(attr));
	attr.attr.max_wr = 2;
	attr.attr.max_sge = 1;
	if (by_xsrq)
		attr.srq_type = IBV_SRQT_BASIC;
	basic = by_xsrq ? ibv_create_xsrq(receiver.pd, &attr) : ibv_create_srq(receiver.pd, &attr);
	HOLDS(basic);
	HOLDS(basic->srq_type == IBV_SRQT_BASIC);
	memset(&qp_attr, 0, sizeof(qp_attr));
	qp_attr.send_cq = qp_attr.recv_cq = receiver.cq;
	qp_attr.srq = basic;
	qp_attr.qp_type = IBV_QPT_RC;
	HOLDS(qp = ibv_create_qp(receiver.pd, &qp_attr));
	HOLDS(qp_attr.srq == basic);
	HOLDS(qp->srq);
	HOLDS(ibv_destroy_srq(basic) == EBUSY);
	HOLDS(!ibv_destroy_qp(qp));
	HOLDS(!ibv_destroy_srq(basic));
}

static void close_end(struct end *end)
{
	HOLDS(!ibv_dereg_mr(end->mr));
	HOLDS(!ibv_destroy_cq(end->cq));
	HOLDS(!ibv_dealloc_pd(end->pd));
	HOLDS(!ibv_close_device(end->context));
}

static void destroy_objects(void)
{
	HOLDS(!ibv_destroy_qp(sender.qp));
	HOLDS(ibv_close_xrcd(xrcd) == EBUSY);
	HOLDS(!ibv_destroy_qp(receiver.qp));
	HOLDS(ibv_close_xrcd(xrcd) == EBUSY);
	HOLDS(!ibv_destroy_srq(srq));
	HOLDS(!ibv_close_xrcd(xrcd));
	close_end(&sender);
	close_end(&receiver);
}

int main(void)
{
	open_both();
	open_domain();
	create_xsrq();
	refuse_xsrq(NULL, receiver.cq, 1);
	refuse_xsrq(xrcd, NULL, 1);
	refuse_xsrq(xrcd, receiver.cq, 1u << 30);
	create_recv_qp();
	create_send_qp();
	to_init_and_rtr(&receiver, &sender);
	to_init_and_rtr(&sender, &receiver);
	sender_to_rts();
	post_receive();
	send_one();
	limit_event();
	limit_event_of_another_library();
	ordinary_srq(0);
	ordinary_srq(1);
	destroy_objects();
	printf("xsrq: all right\n");
	return 0;
}
