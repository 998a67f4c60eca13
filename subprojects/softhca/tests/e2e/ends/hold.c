/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Keeps objects until it is killed, or prints their events.
 *
 *	hold DOMAIN-FILE [idle|spent [QPS]]
 *					objects of every kind, and QPS further QPs; sends without
 *					end, never (idle), or 100 times (spent)
 *	hold watch DOMAIN-FILE COUNT [QP-NUMBER]
 *					an SRQ, a CQ, and a target or one more handle of it; prints
 *					their events, and ends after COUNT of them
 */
#include <harness/emulated.h>
#include <e2e/pair.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ibv_xrcd *domain(struct host *host, const char *path)
{
	int file = open(path, O_RDONLY | O_CREAT, 0600);

	must(file >= 0);
	return MADE(xrc_domain(host, file, O_CREAT));
}

static void hold_qps(struct host *host, int count)
{
	struct ibv_qp_init_attr attr = {
		.srq = count ? MADE(rig_srq(host, 4)) : NULL,
		.send_cq = host->cq,
		.recv_cq = host->cq,
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	while (count--)
		MADE(ibv_create_qp(host->pd, &attr));
}

static void exchange(const struct pair *pair)
{
	must_eq(rig_post_recv(pair->b, pair->qb, 0, 16384, 1), 0);
	pair_must_send(pair, 16384, IBV_WC_SUCCESS);
	rig_must_succeed(pair->b->cq);
}

/* Prints "ready" when everything is there. */
static int hold(int argc, char **argv)
{
	struct pair pair = pair_up(IBV_QPT_RC);
	struct ibv_xrcd *xrcd = domain(pair.a, argv[0]);

	must(xrc_srq(pair.a, xrcd, 4, 1) && xrc_target(pair.a, xrcd));
	hold_qps(pair.a, argc > 2 ? atoi(argv[2]) : 0);
	if (argc > 1 && !strcmp(argv[1], "spent"))
		for (int i = 0; i < 100; i++)
			exchange(&pair);
	puts("ready");
	while (argc > 1)
		pause();
	for (;;)
		exchange(&pair);
}

/* Prints the numbers of the QP and the SRQ, and "stale" for an object that it never had. */
static int watch(int argc, char **argv)
{
	struct host *host = rig_host(0);
	struct ibv_xrcd *xrcd = domain(host, argv[0]);
	struct ibv_srq *srq = MADE(xrc_srq(host, xrcd, RIG_DEPTH, 1));
	struct ibv_qp *qp = MADE(argc > 2 ? xrc_open(host, xrcd, (uint32_t)atoi(argv[2]))
					  : xrc_target(host, xrcd));

	printf("%u %u\n", qp->qp_num, xrc_srq_number(srq));
	for (int i = 0; i < atoi(argv[1]); i++) {
		struct ibv_async_event event;
		const void *object;

		must(!ibv_get_async_event(host->ctx, &event));
		object = event.element.qp; /* a union of pointers */
		printf("%d %s\n", (int)event.event_type,
		       object == qp ? "qp" :
		       object == srq ? "srq" :
		       object == host->cq ? "cq" : "stale");
		ibv_ack_async_event(&event);
	}
	must(!(argc > 2 ? emulated_destroy_opened(qp) : ibv_destroy_qp(qp)) &&
	     !ibv_destroy_srq(srq) && !ibv_close_xrcd(xrcd));
	rig_free_host(host);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	must(argc > 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(argv[1], "watch"))
		return watch(argc - 2, argv + 2);
	return hold(argc - 1, argv + 1);
}
