/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC shared receive queues of today: ibv_create_srq_ex with IBV_SRQT_XRC, ibv_get_srq_num. */
#include "modern.h"
#include "status.h"
#include "table.h"

#include <errno.h>

int modern_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrcd *xrcd, struct ibv_cq *cq,
			  struct ibv_srq_init_attr *attr, struct ibv_srq **srq, uint32_t *srq_num)
{
	struct ibv_srq_init_attr_ex ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD |
			     IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = xrcd,
		.cq = cq,
	};
	struct ibv_srq *created;
	uint32_t number;
	int err;

	errno = 0;
	created = modern_table.create_srq_ex(pd->context, &ex);
	if (!created)
		return modern_null_status();
	err = modern_status(modern_table.get_srq_num(created, &number));
	if (err) {
		modern_destroy_srq(created);
		return err;
	}
	attr->attr = ex.attr;
	*srq = created;
	*srq_num = number;
	return 0;
}

int modern_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
	return modern_status(modern_table.modify_srq(srq, attr, mask));
}

int modern_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	return modern_status(modern_table.query_srq(srq, attr));
}

int modern_destroy_srq(struct ibv_srq *srq)
{
	return modern_status(modern_table.destroy_srq(srq));
}
