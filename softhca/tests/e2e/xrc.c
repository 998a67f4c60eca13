/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC objects over the modern API. */
#include <tests/e2e/emulated.h>
#include "xrc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int xrc_file(void)
{
	char path[] = "/tmp/softhca-test-XXXXXX";
	int fd = mkstemp(path);

	NEED(fd >= 0);
	unlink(path);
	return fd;
}

struct ibv_xrcd *xrc_domain(struct host *host, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = { .comp_mask = IBV_XRCD_INIT_ATTR_FD |
							IBV_XRCD_INIT_ATTR_OFLAGS,
					   .fd = fd,
					   .oflags = oflags };

	return ibv_open_xrcd(host->ctx, &attr);
}

struct ibv_srq *xrc_srq(struct host *host, struct ibv_xrcd *xrcd, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = max_wr, .max_sge = max_sge }, .srq_type = IBV_SRQT_XRC,
		.xrcd = xrcd, .cq = host->cq,
		.pd = host->pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
	};

	return ibv_create_srq_ex(host->ctx, &attr);
}

struct ibv_qp *xrc_target(struct host *host, struct ibv_xrcd *xrcd)
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

uint32_t xrc_srq_number(struct ibv_srq *srq)
{
	uint32_t number = 0;

	NEED(!ibv_get_srq_num(srq, &number));
	return number;
}

struct xrc_stage xrc_stage(void)
{
	struct xrc_stage s = {
		.sender = rig_host(0), .one = rig_host(1), .two = rig_host(1), .fd = xrc_file()
	};

	s.xrcd1 = MADE(xrc_domain(s.one, s.fd, O_CREAT));
	s.xrcd2 = MADE(xrc_domain(s.two, s.fd, 0));
	s.srq1 = MADE(xrc_srq(s.one, s.xrcd1, RIG_DEPTH, 1));
	s.srq2 = MADE(xrc_srq(s.two, s.xrcd2, RIG_DEPTH, 1));
	s.send = rig_qp(s.sender, IBV_QPT_XRC_SEND, NULL);
	s.target = MADE(xrc_target(s.one, s.xrcd1));
	s.opened = MADE(xrc_open(s.two, s.xrcd2, s.target->qp_num));
	rig_connect(s.sender, s.send, s.one, s.target, rig_link_to(0, 0));
	return s;
}

struct ibv_send_wr xrc_wr(struct xrc_stage *s, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
			  struct ibv_srq *srq)
{
	struct ibv_send_wr wr = rig_wr(s->sender, sge, opcode, 0, XRC_BYTES);

	wr.qp_type.xrc.remote_srqn = xrc_srq_number(srq);
	return wr;
}

bool xrc_send(struct xrc_stage *s, struct ibv_srq *srq, struct host *host,
	      enum ibv_wc_status status)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = xrc_wr(s, &sge, IBV_WR_SEND, srq);
	uint32_t number = xrc_srq_number(srq);
	struct ibv_wc wc;

	memset(s->sender->buffer, (int)number, XRC_BYTES);
	CHECK(!rig_post_srq(host, srq, 4096, XRC_BYTES, number));
	CHECK(rig_send(s->send, &wr, status));
	if (status)
		return true;
	CHECK(rig_poll_success(host->cq, &wc) && wc.wr_id == number);
	CHECK(wc.qp_num == s->target->qp_num &&
	      wc.src_qp == emulated_src_qp(number, s->send->qp_num));
	CHECK(host->buffer[4096] == (uint8_t)number);
	return true;
}
