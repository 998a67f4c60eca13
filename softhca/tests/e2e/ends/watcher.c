/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Holds an XRC target QP, an SRQ and a CQ on the first device, and prints which asynchronous events
 * come for them.
 */
#include <tests/e2e/emulated.h>
#include <softhca/tests/e2e/pair.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The event's object; "stale" for a pointer that the program never had. */
static const char *element(const struct ibv_async_event *event, const struct ibv_qp *qp,
			   const struct ibv_srq *srq, const struct ibv_cq *cq)
{
	const void *object = event->element.qp; /* a union of pointers */

	return object == qp ? "qp" : object == srq ? "srq" : object == cq ? "cq" : "stale";
}

/*
 * usage: watcher DOMAIN-FILE COUNT [QP-NUMBER]; ends after COUNT events, when everything could be
 * destroyed.
 */
int main(int argc, char **argv)
{
	struct host *host = rig_host(0);
	int count = argc > 2 ? atoi(argv[2]) : 0;
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CREAT, 0600) : -1;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	NEED(count > 0 && fd >= 0);
	xrcd = MADE(xrc_domain(host, fd, O_CREAT));
	srq = MADE(xrc_srq(host, xrcd, RIG_DEPTH, 1));
	qp = MADE(argc > 3 ? xrc_open(host, xrcd, (uint32_t)strtoul(argv[3], NULL, 0))
			   : xrc_target(host, xrcd));
	printf("%u %u\n", qp->qp_num, xrc_srq_number(srq));
	fflush(stdout);
	for (int i = 0; i < count; i++) {
		struct ibv_async_event event;

		NEED(!ibv_get_async_event(host->ctx, &event));
		printf("%d %s\n", (int)event.event_type, element(&event, qp, srq, host->cq));
		ibv_ack_async_event(&event);
	}
	NEED(!(argc > 3 ? opened_destroy(qp) : ibv_destroy_qp(qp)) && !ibv_destroy_srq(srq) &&
	     !ibv_close_xrcd(xrcd));
	rig_free_host(host);
	return EXIT_SUCCESS;
}
