/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What refusals are tried on. */
#include "ground.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int ground_made(const void *object)
{
	return object ? 0 : errno;
}

int ground_done(int result)
{
	return result < 0 ? errno : result;
}

struct ibv_xrcd *ground_domain(struct ground *g, int fd, int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = oflags
	};

	return ibv_open_xrcd(g->host->ctx, &attr);
}

struct ibv_srq *ground_xrc_srq(struct ground *g, struct ibv_xrcd *xrcd, uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = max_wr, .max_sge = max_sge }, .srq_type = IBV_SRQT_XRC, .xrcd = xrcd,
		.cq = g->host->cq, .pd = g->host->pd,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
	};

	return ibv_create_srq_ex(g->host->ctx, &attr);
}

struct ibv_qp *ground_target(struct ground *g, struct ibv_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .xrcd = xrcd, .comp_mask = IBV_QP_INIT_ATTR_XRCD
	};

	return ibv_create_qp_ex(g->host->ctx, &attr);
}

struct ibv_qp *ground_open_target(struct ground *g, struct ibv_xrcd *xrcd, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn, .xrcd = xrcd, .qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(g->host->ctx, &attr);
}

int ground_file(void)
{
	char path[] = "/tmp/softhca-test-XXXXXX";
	int fd = mkstemp(path);

	NEED(fd >= 0);
	unlink(path);
	return fd;
}

struct ground ground_lay(bool xrc)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 2 } };
	struct ground g = { .host = rig_host(0), .fd = ground_file() };

	g.srq = ibv_create_srq(g.host->pd, &init);
	g.rc = rig_qp(g.host, IBV_QPT_RC, NULL);
	NEED(g.srq);
	if (!xrc)
		return g;
	g.xrcd = ground_domain(&g, g.fd, O_CREAT);
	g.private = ground_domain(&g, -1, O_CREAT);
	NEED(g.xrcd && g.private);
	g.xsrq = ground_xrc_srq(&g, g.xrcd, 8, 2);
	g.send = rig_qp(g.host, IBV_QPT_XRC_SEND, NULL);
	g.recv = ground_target(&g, g.xrcd);
	NEED(g.xsrq && g.recv);
	return g;
}

void ground_clear(struct ground *g)
{
	NEED(!ibv_destroy_qp(g->rc) && !ibv_destroy_srq(g->srq));
	if (g->xrcd) {
		NEED(!ibv_destroy_qp(g->recv) && !ibv_destroy_qp(g->send) && !ibv_destroy_srq(g->xsrq));
		NEED(!ibv_close_xrcd(g->xrcd) && !ibv_close_xrcd(g->private));
	}
	rig_free_host(g->host);
	close(g->fd);
}
