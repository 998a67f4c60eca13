/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What is the same for every kind of QP: create, modify, query, destroy. */

#include <errno.h>

#include "modern.h"
#include "opened_qp.h"
#include "table.h"
#include "tgt_qp.h"

/* ibv_query_qp refuses mask bits from here on; the kernel has never looked at the mask at all (contract 2.3). */
#define QUERY_MASK_KNOWN (IBV_QP_RATE_LIMIT - 1)

int modern_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, struct ibv_qp **qp)
{
	struct ibv_qp *created;

	errno = 0;
	created = modern_table.create_qp(pd, attr);
	if (!created)
		return modern_null_status();
	*qp = created;
	return 0;
}

int modern_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	return modern_status(tgt_qp_is_opened(qp) ? opened_qp_modify(qp, attr, mask) : modern_table.modify_qp(qp, attr, mask));
}

int modern_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr)
{
	mask &= QUERY_MASK_KNOWN;
	return modern_status(tgt_qp_is_opened(qp) ? opened_qp_query(qp, attr, mask, init_attr) :
						   modern_table.query_qp(qp, attr, mask, init_attr));
}

int modern_destroy_qp(struct ibv_qp *qp)
{
	return modern_status(tgt_qp_is_opened(qp) ? opened_qp_destroy(qp) : modern_table.destroy_qp(qp));
}
