/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The half that is still old, compiled with the header of OFED 1.5. C and C++. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "porting.h"

static int say(const char *what)
{
	printf("porting: %s failed\n", what);
	return 1;
}

static struct ibv_xrc_domain *open_domain(struct ibv_context *context, FILE *file)
{
	return context ? ibv_open_xrc_domain(context, fileno(file), O_CREAT) : NULL;
}

/* Another opened device registers, as another process would. */
static int registered_elsewhere(struct ibv_context *context, FILE *file, uint32_t rcv_qpn)
{
	struct ibv_context *other = ibv_open_device(context->device);
	struct ibv_xrc_domain *domain = open_domain(other, file);
	int failed;

	if (!domain || ibv_reg_xrc_rcv_qp(domain, rcv_qpn))
		return say("ibv_reg_xrc_rcv_qp");
	failed = ported_handle(domain, rcv_qpn);
	if (ibv_unreg_xrc_rcv_qp(domain, rcv_qpn) || ibv_close_xrc_domain(domain) ||
	    ibv_close_device(other))
		return say("closing the other domain");
	return failed;
}

static int with_qps(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_xrc_domain *domain, FILE *file)
{
	const char *two_way = getenv("XRC_COMPAT_TWO_WAY");
	struct ibv_qp_init_attr attr;
	struct ibv_qp *xrc_qp;
	uint32_t rcv_qpn;
	int failed;

	memset(&attr, 0, sizeof(attr));
	attr.qp_type = IBV_QPT_XRC;
	attr.send_cq = attr.recv_cq = cq;
	attr.cap.max_send_wr = attr.cap.max_send_sge = 1;
	attr.xrc_domain = domain;
	if (ibv_create_xrc_rcv_qp(&attr, &rcv_qpn))
		return say("ibv_create_xrc_rcv_qp");
	xrc_qp = ibv_create_qp(pd, &attr);
	if (!xrc_qp)
		return say("ibv_create_qp");
	failed = ported_qps(domain, rcv_qpn, xrc_qp, two_way && !strcmp(two_way, "on")) ||
		 registered_elsewhere(pd->context, file, rcv_qpn);
	if (ibv_destroy_qp(xrc_qp) || ibv_unreg_xrc_rcv_qp(domain, rcv_qpn))
		return say("destroying the QPs");
	return failed;
}

static int with_srq(struct ibv_context *context, struct ibv_xrc_domain *domain, FILE *file)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_srq_init_attr attr;
	struct ibv_srq *srq;
	int failed;

	memset(&attr, 0, sizeof(attr));
	attr.attr.max_wr = 4;
	attr.attr.max_sge = 1;
	srq = pd && cq ? ibv_create_xrc_srq(pd, domain, cq, &attr) : NULL;
	if (!srq)
		return say("ibv_create_xrc_srq");
	failed = with_qps(pd, cq, domain, file) || ported_half(pd, domain, srq, srq->xrc_srq_num);
	if (ibv_destroy_srq(srq) || ibv_destroy_cq(cq) || ibv_dealloc_pd(pd))
		return say("destroying the SRQ, CQ and PD");
	return failed;
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	FILE *file = tmpfile();
	struct ibv_xrc_domain *domain = file ? open_domain(context, file) : NULL;
	int failed;

	if (!domain)
		return say("ibv_open_xrc_domain");
	failed = with_srq(context, domain, file);
	if (ibv_close_xrc_domain(domain) || ibv_close_device(context))
		return say("closing the domain and the device");
	ibv_free_device_list(list);
	return failed;
}
