/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The half that is ported already, compiled with this machine's header. C and C++. */

#include <errno.h>
#include <string.h>

#include <infiniband/verbs.h>

#include "../../abi/rc_masks.h"
#include "halves.h"

/*
 * ibv_reg_mr of today's header calls a function that OFED's libibverbs did not have, so the program
 * must be linked with today's as well.
 */
static void register_memory(struct ibv_pd *pd)
{
	static char memory[64];
	unsigned int access = IBV_ACCESS_LOCAL_WRITE;
	struct ibv_mr *mr;

	HOLDS(mr = ibv_reg_mr(pd, memory, sizeof(memory), access));
	HOLDS(!ibv_dereg_mr(mr));
}

void ported_half(struct ibv_pd *pd, struct ibv_xrc_domain *domain, struct ibv_srq *srq,
		 uint32_t srq_num)
{
	struct ibv_xrcd *xrcd = xrc_compat_xrcd(domain);
	struct ibv_srq *real = xrc_compat_srq(srq);
	uint32_t real_num = 0;

	HOLDS(xrcd);
	HOLDS(xrcd->context == pd->context);
	HOLDS(real);
	HOLDS(real != srq);
	HOLDS(!ibv_get_srq_num(real, &real_num));
	HOLDS(real_num == srq_num);
	HOLDS(xrc_compat_domain(xrcd) == domain);
	HOLDS(xrc_compat_legacy_srq(real) == srq);
	register_memory(pd);
	printf("halves: they agree\n");
}

void ported_qps(struct ibv_xrc_domain *domain, uint32_t rcv_qpn, struct ibv_qp *xrc_qp,
		int two_way)
{
	struct ibv_qp *rcv_qp = xrc_compat_rcv_qp(domain, rcv_qpn);
	struct ibv_qp *target;

	HOLDS(rcv_qp);
	HOLDS(rcv_qp->qp_num == rcv_qpn);
	errno = 0;
	HOLDS(!xrc_compat_rcv_qp(domain, 0xfffffe) && errno == EINVAL);
	errno = 0;
	target = xrc_compat_target_qp(xrc_qp);
	if (two_way) {
		HOLDS(target);
		HOLDS(target != xrc_qp);
		HOLDS(target->qp_type == IBV_QPT_XRC_RECV);
	} else {
		HOLDS(!target && errno == EINVAL);
	}
}

void ported_handle(struct ibv_xrc_domain *domain, uint32_t rcv_qpn)
{
	struct ibv_qp *qp = xrc_compat_rcv_qp(domain, rcv_qpn);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.port_num = 1;
	HOLDS(qp);
	HOLDS(!ibv_modify_qp(qp, &attr, MASK_INIT));
	HOLDS(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	HOLDS(attr.qp_state == IBV_QPS_INIT);
	attr.qp_state = IBV_QPS_RESET;
	HOLDS(!ibv_modify_qp(qp, &attr, IBV_QP_STATE));
}
