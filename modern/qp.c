/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Initiators of today, which are XRC_SEND QPs; and modify, query, destroy for QPs of any kind. */
#include "modern.h"
#include "status.h"
#include "table.h"
#include "tgt_qp.h"

#include <errno.h>

int modern_create_ini_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, struct ibv_qp **qp)
{
	struct ibv_qp_init_attr ini = *attr;
	struct ibv_qp *created;

	ini.qp_type = IBV_QPT_XRC_SEND;
	ini.srq = NULL;
	/* The old libmlx4 zeroed the receive capacities of an XRC QP in any case (contract 5.3). */
	ini.cap.max_recv_wr = 0;
	ini.cap.max_recv_sge = 0;
	errno = 0;
	created = modern_table.create_qp(pd, &ini);
	if (!created)
		return modern_null_status();
	attr->cap = ini.cap;
	*qp = created;
	return 0;
}

int any_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int ret;

	if (!tgt_qp_is_opened(qp))
		return modern_table.modify_qp(qp, attr, mask);
	ret = modern_table.uverbs_modify_qp(qp, attr, mask);
	if (!ret && mask & IBV_QP_STATE)
		qp->state = attr->qp_state;
	return ret;
}

int any_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr)
{
	return tgt_qp_is_opened(qp) ? modern_table.uverbs_query_qp(qp, attr, init_attr)
				    : modern_table.query_qp(qp, attr, mask, init_attr);
}

int modern_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return modern_status(any_qp_modify(qp, attr, mask));
}

int modern_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		    struct ibv_qp_init_attr *init_attr)
{
	/* ibv_query_qp refuses other bits. No kernel reads the mask (contract 2.3). */
	mask &= IBV_QP_RATE_LIMIT - 1;
	return modern_status(any_qp_query(qp, attr, mask, init_attr));
}

int modern_destroy_qp(struct ibv_qp *qp)
{
	return modern_status(tgt_qp_is_opened(qp) ? opened_qp_destroy(qp)
						  : modern_table.destroy_qp(qp));
}
