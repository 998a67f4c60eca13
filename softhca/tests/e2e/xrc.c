/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC objects over the modern API. */
#include "xrc.h"

#include <stdlib.h>
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
