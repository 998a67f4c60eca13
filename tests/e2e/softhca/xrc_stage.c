/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A domain that two contexts share, and a sender that reaches both. */
#include "../emulated.h"
#include "xrc_stage.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int temporary_file(void)
{
	char path[] = "/tmp/softhca-test-XXXXXX";
	int fd = mkstemp(path);

	NEED(fd >= 0);
	unlink(path);
	return fd;
}

struct ibv_xrcd *xrc_domain(struct host *host, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = oflags
	};

	return ibv_open_xrcd(host->ctx, &attr);
}

struct ibv_srq *xrc_srq(struct host *host, struct ibv_xrcd *xrcd)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = RIG_DEPTH, .max_sge = 1 }, .srq_type = IBV_SRQT_XRC, .xrcd = xrcd, .cq = host->cq,
		.pd = host->pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
	};

	return ibv_create_srq_ex(host->ctx, &attr);
}

static struct ibv_qp *xrc_target(struct host *host, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcd, .comp_mask = IBV_QP_INIT_ATTR_XRCD
	};

	return ibv_create_qp_ex(host->ctx, &attr);
}

struct ibv_qp *xrc_open(struct host *host, struct ibv_xrcd *xrcd, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn, .xrcd = xrcd, .qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(host->ctx, &attr);
}

struct xrc_stage xrc_stage(void)
{
	struct xrc_stage s = { .sender = rig_host(0), .one = rig_host(1), .two = rig_host(1), .fd = temporary_file() };
	struct rig_link link;

	s.xrcd1 = xrc_domain(s.one, s.fd, O_CREAT);
	s.xrcd2 = xrc_domain(s.two, s.fd, 0);
	NEED(s.xrcd1 && s.xrcd2);
	s.srq1 = xrc_srq(s.one, s.xrcd1);
	s.srq2 = xrc_srq(s.two, s.xrcd2);
	NEED(s.srq1 && s.srq2);
	s.send = rig_qp(s.sender, IBV_QPT_XRC_SEND, NULL);
	s.target = xrc_target(s.one, s.xrcd1);
	NEED(s.target);
	s.opened = xrc_open(s.two, s.xrcd2, s.target->qp_num);
	NEED(s.opened);
	link = rig_link_to(s.target->qp_num, s.one->lid);
	NEED(!rig_init(s.send, &link) && !rig_rtr(s.send, &link) && !rig_rts(s.send, &link));
	link = rig_link_to(s.send->qp_num, s.sender->lid);
	NEED(!rig_init(s.target, &link) && !rig_rtr(s.target, &link));
	return s;
}

uint32_t xrc_srq_number(struct ibv_srq *srq)
{
	uint32_t number = 0;

	NEED(!ibv_get_srq_num(srq, &number));
	return number;
}

bool xrc_send(struct xrc_stage *s, struct ibv_srq *srq, struct host *host, enum ibv_wc_status status)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = rig_wr(s->sender, &sge, IBV_WR_SEND, 0, 64);
	uint32_t number = xrc_srq_number(srq);
	struct ibv_wc wc;

	memset(s->sender->buffer, (int)number, 64);
	wr.qp_type.xrc.remote_srqn = number;
	CHECK(!rig_post_srq(host, srq, 4096, 64, number));
	CHECK(!rig_post(s->send, &wr) && rig_poll(s->sender->cq, &wc) && wc.status == status);
	if (status)
		return true;
	CHECK(rig_poll(host->cq, &wc) && wc.status == IBV_WC_SUCCESS && wc.wr_id == number);
	CHECK(wc.qp_num == s->target->qp_num && wc.src_qp == emulated_src_qp(number, s->send->qp_num) && host->buffer[4096] == (uint8_t)number);
	return true;
}

bool xrc_event_is(struct host *host, enum ibv_event_type type, struct ibv_qp *qp)
{
	struct ibv_async_event event;

	CHECK(rig_async(host->ctx, &event));
	CHECK(event.event_type == type && event.element.qp == qp);
	ibv_ack_async_event(&event);
	return true;
}
