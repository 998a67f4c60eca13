/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The half that is ported already, compiled with this machine's header. C and C++. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "porting.h"

static int differ(const char *what)
{
	printf("porting: %s\n", what);
	return 1;
}

/*
 * ibv_reg_mr of today's header calls a function that OFED's libibverbs did not have, so the program
 * must be linked with today's as well.
 */
static int register_memory(struct ibv_pd *pd)
{
	static char memory[64];
	unsigned int access = IBV_ACCESS_LOCAL_WRITE;
	struct ibv_mr *mr = ibv_reg_mr(pd, memory, sizeof(memory), access);

	return !mr || ibv_dereg_mr(mr) ? differ("ibv_reg_mr failed") : 0;
}

int ported_half(struct ibv_pd *pd, struct ibv_xrc_domain *domain, struct ibv_srq *srq,
		uint32_t srq_num)
{
	struct ibv_xrcd *xrcd = xrc_compat_xrcd(domain);
	struct ibv_srq *real = xrc_compat_srq(srq);
	uint32_t real_num = 0;

	if (!xrcd || xrcd->context != pd->context)
		return differ("no XRCD behind the domain");
	if (!real || real == srq || ibv_get_srq_num(real, &real_num) || real_num != srq_num)
		return differ("the SRQ behind the old one has another number");
	if (xrc_compat_domain(xrcd) != domain || xrc_compat_legacy_srq(real) != srq)
		return differ("the ported objects belong to another domain or SRQ");
	if (register_memory(pd))
		return 1;
	printf("porting: both halves agree\n");
	return 0;
}

int ported_qps(struct ibv_xrc_domain *domain, uint32_t rcv_qpn, struct ibv_qp *xrc_qp, int two_way)
{
	struct ibv_qp *rcv_qp = xrc_compat_rcv_qp(domain, rcv_qpn);
	struct ibv_qp *target;

	if (!rcv_qp || rcv_qp->qp_num != rcv_qpn)
		return differ("the handle on the receive QP has another number");
	errno = 0;
	if (xrc_compat_rcv_qp(domain, 0xfffffe) || errno != EINVAL)
		return differ("a handle on a receive QP that does not exist");
	errno = 0;
	target = xrc_compat_target_qp(xrc_qp);
	if (!two_way && (target || errno != EINVAL))
		return differ("a target of a QP that only sends");
	if (two_way && (!target || target == xrc_qp || target->qp_type != IBV_QPT_XRC_RECV))
		return differ("no target of a QP that also receives");
	return 0;
}

int ported_handle(struct ibv_xrc_domain *domain, uint32_t rcv_qpn)
{
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct ibv_qp *qp = xrc_compat_rcv_qp(domain, rcv_qpn);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	if (!qp || ibv_modify_qp(qp, &attr, mask))
		return differ("the opened handle cannot be modified");
	if (ibv_query_qp(qp, &attr, IBV_QP_STATE, &init) || attr.qp_state != IBV_QPS_INIT)
		return differ("the opened handle has another state");
	return 0;
}
