/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The objects on which refusals are tried. */
#include "ground.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int ground_made(const void *object)
{
	return object ? 0 : errno;
}

int ground_done(int result)
{
	return result < 0 ? errno : result;
}

struct ground ground_lay(bool xrc)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 2 } };
	struct ground g = { .host = rig_host(0), .fd = xrc_file() };

	g.srq = MADE(ibv_create_srq(g.host->pd, &init));
	g.rc = rig_qp(g.host, IBV_QPT_RC, NULL);
	if (!xrc)
		return g;
	g.xrcd = MADE(xrc_domain(g.host, g.fd, O_CREAT));
	g.private = MADE(xrc_domain(g.host, -1, O_CREAT));
	g.xsrq = MADE(xrc_srq(g.host, g.xrcd, 8, 2));
	g.send = rig_qp(g.host, IBV_QPT_XRC_SEND, NULL);
	g.recv = MADE(xrc_target(g.host, g.xrcd));
	return g;
}

void ground_clear(struct ground *g)
{
	NEED(!ibv_destroy_qp(g->rc) && !ibv_destroy_srq(g->srq));
	if (g->xrcd) {
		NEED(!ibv_destroy_qp(g->recv) && !ibv_destroy_qp(g->send) &&
		     !ibv_destroy_srq(g->xsrq));
		NEED(!ibv_close_xrcd(g->xrcd) && !ibv_close_xrcd(g->private));
	}
	rig_free_host(g->host);
	close(g->fd);
}
