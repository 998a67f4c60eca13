/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The shortest old program: it opens a domain, creates an SRQ, and ends both. Also built as a
 * plugin.
 */

#include <fcntl.h>
#include <stdio.h>
#include <infiniband/verbs.h>

#include "life.h"

static int say(const char *what)
{
	printf("life: %s failed\n", what);
	return 1;
}

static int in_domain(struct ibv_context *context, struct ibv_xrc_domain *domain)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_srq *srq;

	if (!pd || !cq)
		return say("ibv_alloc_pd or ibv_create_cq");
	srq = ibv_create_xrc_srq(pd, domain, cq, &attr);
	if (!srq)
		return say("ibv_create_xrc_srq");
	printf("life: SRQ number %s\n", srq->xrc_srq_num ? "read" : "is 0");
	if (ibv_destroy_srq(srq))
		return say("ibv_destroy_srq");
	return ibv_destroy_cq(cq) || ibv_dealloc_pd(pd) ? say("ibv_destroy_cq or ibv_dealloc_pd")
							: 0;
}

static int on_device(struct ibv_context *context)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(context, -1, O_CREAT);

	if (!domain)
		return say("ibv_open_xrc_domain");
	if (in_domain(context, domain))
		return 1;
	if (ibv_close_xrc_domain(domain))
		return say("ibv_close_xrc_domain");
	printf("life: lived\n");
	return 0;
}

int live(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	int failed;

	/*
	 * Printed before the first XRC verb: so far a lazily bound program comes without the shim.
	 */
	printf("life: device %s\n", context ? "open" : "cannot be opened");
	fflush(stdout);
	if (!context)
		return 1;
	failed = on_device(context);
	ibv_free_device_list(list);
	return failed || ibv_close_device(context);
}
