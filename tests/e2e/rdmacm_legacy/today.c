/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The half of the program that is ported already: today's headers. */

#include <errno.h>
#include <string.h>

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <xrc_compat.h>

#include "today.h"

int today_create_srq(struct rdma_cm_id *id, struct ibv_xrc_domain *domain, uint32_t *srq_num)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 4, .max_sge = 1 },
					     .srq_type = IBV_SRQT_XRC };

	attr.xrcd = xrc_compat_xrcd(domain);
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD;
	if (!attr.xrcd || rdma_create_srq_ex(id, &attr))
		return errno ? errno : EIO;
	return ibv_get_srq_num(id->srq, srq_num);
}

static struct ibv_mr *mr;

int today_post_recv(struct rdma_cm_id *id, char *buffer)
{
	if (!mr)
		mr = rdma_reg_msgs(id, buffer, TODAY_LENGTH);
	if (mr && !rdma_post_recv(id, NULL, buffer, TODAY_LENGTH, mr))
		return 0;
	return errno ? errno : EIO;
}

int today_get_recv(struct rdma_cm_id *id, uint32_t *from_qpn)
{
	struct ibv_wc wc;
	int got = rdma_get_recv_comp(id, &wc);

	if (got != 1 || wc.status != IBV_WC_SUCCESS || wc.byte_len != TODAY_LENGTH)
		return got < 0 ? errno : EIO;
	*from_qpn = wc.qp_num;
	return 0;
}

void today_destroy_srq(struct rdma_cm_id *id)
{
	if (mr)
		rdma_dereg_mr(mr);
	rdma_destroy_srq(id);
}
