/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The half that is still old, compiled with the header of OFED 1.5. C and C++. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "halves.h"

static struct ibv_xrc_domain *open_domain(struct ibv_context *context, FILE *file)
{
	struct ibv_xrc_domain *domain;

	HOLDS(context);
	HOLDS(file);
	HOLDS(domain = ibv_open_xrc_domain(context, fileno(file), O_CREAT));
	return domain;
}

/* OFED's struct ends before today's last member, which must not be written. */
static void query_by_old_struct(struct ibv_xrc_domain *domain, uint32_t rcv_qpn)
{
	struct {
		struct ibv_qp_attr attr;
		uint64_t behind;
	} space;
	struct ibv_qp_init_attr init;

	memset(&space, 0xaa, sizeof(space));
	HOLDS(!ibv_query_qp(xrc_compat_rcv_qp(domain, rcv_qpn), &space.attr, IBV_QP_STATE, &init));
	HOLDS(space.attr.qp_state == IBV_QPS_RESET);
	HOLDS(space.behind == UINT64_C(0xaaaaaaaaaaaaaaaa));
}

/* Another opened device registers, as another process would. */
static void registered_elsewhere(struct ibv_device *device, FILE *file, uint32_t rcv_qpn)
{
	struct ibv_context *other = ibv_open_device(device);
	struct ibv_xrc_domain *domain = open_domain(other, file);

	HOLDS(!ibv_reg_xrc_rcv_qp(domain, rcv_qpn));
	ported_handle(domain, rcv_qpn);
	query_by_old_struct(domain, rcv_qpn);
	HOLDS(!ibv_unreg_xrc_rcv_qp(domain, rcv_qpn));
	HOLDS(!ibv_close_xrc_domain(domain));
	HOLDS(!ibv_close_device(other));
}

static void with_qps(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_xrc_domain *domain,
		     FILE *file)
{
	const char *two_way = getenv("XRC_COMPAT_TWO_WAY");
	struct ibv_qp_init_attr attr;
	struct ibv_qp *xrc_qp;
	uint32_t rcv_qpn;

	memset(&attr, 0, sizeof(attr));
	attr.qp_type = IBV_QPT_XRC;
	attr.send_cq = attr.recv_cq = cq;
	attr.cap.max_send_wr = attr.cap.max_send_sge = 1;
	attr.xrc_domain = domain;
	HOLDS(!ibv_create_xrc_rcv_qp(&attr, &rcv_qpn));
	HOLDS(xrc_qp = ibv_create_qp(pd, &attr));
	ported_qps(domain, rcv_qpn, xrc_qp, two_way && !strcmp(two_way, "on"));
	registered_elsewhere(pd->context->device, file, rcv_qpn);
	HOLDS(!ibv_destroy_qp(xrc_qp));
	HOLDS(!ibv_unreg_xrc_rcv_qp(domain, rcv_qpn));
}

static void with_srq(struct ibv_context *context, struct ibv_xrc_domain *domain, FILE *file)
{
	struct ibv_pd *pd = ibv_alloc_pd(context);
	struct ibv_cq *cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	struct ibv_srq_init_attr attr;
	struct ibv_srq *srq;

	HOLDS(pd);
	HOLDS(cq);
	memset(&attr, 0, sizeof(attr));
	attr.attr.max_wr = 4;
	attr.attr.max_sge = 1;
	HOLDS(srq = ibv_create_xrc_srq(pd, domain, cq, &attr));
	with_qps(pd, cq, domain, file);
	ported_half(pd, domain, srq, srq->xrc_srq_num);
	HOLDS(!ibv_destroy_srq(srq));
	HOLDS(!ibv_destroy_cq(cq));
	HOLDS(!ibv_dealloc_pd(pd));
}

int main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
	FILE *file = tmpfile();
	struct ibv_xrc_domain *domain = open_domain(context, file);

	with_srq(context, domain, file);
	HOLDS(!ibv_close_xrc_domain(domain));
	HOLDS(!ibv_close_device(context));
	ibv_free_device_list(list);
	return 0;
}
