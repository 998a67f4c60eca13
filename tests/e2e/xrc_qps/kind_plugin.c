/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A plugin that refers to a function of receive QPs, as Open MPI's openib component does. */

#include <infiniband/verbs.h>

int plugin_register(struct ibv_xrc_domain *domain, uint32_t qp_num);

__attribute__((visibility("default"))) int plugin_register(struct ibv_xrc_domain *domain,
							   uint32_t qp_num)
{
	return ibv_reg_xrc_rcv_qp(domain, qp_num);
}
