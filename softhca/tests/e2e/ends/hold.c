/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A program to be killed: it holds objects of every kind, and sends or waits until it is killed. */
#include <softhca/tests/e2e/pair.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void hold_xrc(struct host *host, const char *path)
{
	int fd = open(path, O_RDONLY | O_CREAT, 0600);
	struct ibv_xrcd *xrcd = MADE(xrc_domain(host, fd, O_CREAT));

	NEED(xrc_srq(host, xrcd, 4, 1) && xrc_target(host, xrcd) && !close(fd));
}

static void hold_qps(struct host *host, int count)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = host->cq, .recv_cq = host->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	while (count--)
		NEED(ibv_create_qp(host->pd, &attr));
}

/* usage: hold DOMAIN-FILE [idle [QPS]]; prints "ready" when everything is there. */
int main(int argc, char **argv)
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_wc wc;

	NEED(argc > 1);
	hold_xrc(pair.a, argv[1]);
	if (argc > 3)
		hold_qps(pair.a, atoi(argv[3]));
	puts("ready");
	fflush(stdout);
	while (argc > 2)
		pause();
	while (!rig_post_recv(pair.b, pair.qb, 0, 16384, 1) &&
	       pair_send(&pair, 16384, IBV_WC_SUCCESS) && rig_poll_success(pair.b->cq, &wc))
		;
	return EXIT_FAILURE;
}
