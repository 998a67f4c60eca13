/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Target QPs of today: XRC_RECV QPs created with ibv_create_qp_ex and shared with ibv_open_qp. */

#include "modern.h"
#include "table.h"

/* Their addresses are the qp_context of our handles; no application can have them by accident. */
static char marks[MODERN_TGT_PAIRED + 1];

enum modern_tgt_use modern_tgt_use(const struct ibv_qp *qp)
{
	for (int use = MODERN_TGT_REGISTERED; use <= MODERN_TGT_PAIRED; use++)
		if (qp->qp_context == &marks[use])
			return (enum modern_tgt_use)use;
	return MODERN_TGT_NONE;
}

int modern_create_tgt_qp(struct ibv_context *context, struct ibv_xrcd *xrcd, enum modern_tgt_use use,
			 struct ibv_qp **qp)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = &marks[use],
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};
	struct ibv_qp *created = modern_table.create_qp_ex(context, &attr);

	if (!created)
		return modern_null_status();
	*qp = created;
	return 0;
}

int modern_open_tgt_qp(struct ibv_context *context, struct ibv_xrcd *xrcd, uint32_t qp_num, enum modern_tgt_use use,
		       struct ibv_qp **qp)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_CONTEXT |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qp_num,
		.xrcd = xrcd,
		.qp_context = &marks[use],
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp *opened = modern_table.open_qp(context, &attr);

	if (!opened)
		return modern_null_status();
	*qp = opened;
	return 0;
}
