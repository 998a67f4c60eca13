/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Target QPs of today: XRC_RECV QPs, created with ibv_create_qp_ex or opened (opened_qp.h). */

#include <string.h>

#include "modern.h"
#include "opened_qp.h"
#include "provider.h"
#include "table.h"
#include "tgt_qp.h"

/*
 * The qp_context of each of our handles is the address of one of these, which no application has by accident. Row 0 is for
 * handles that were created, row 1 for opened ones.
 */
static char marks[2][MODERN_TGT_PAIRED + 1];

/* Its callers have the attribute, too: gcc may read the field in them. */
static ORDERED_BY_KERNEL const char *mark_of(const struct ibv_qp *qp)
{
	const char *mark = qp->qp_context, *first = (const char *)marks;

	return mark >= first && mark < first + sizeof(marks) ? mark : NULL;
}

ORDERED_BY_KERNEL enum modern_tgt_use modern_tgt_use(const struct ibv_qp *qp)
{
	const char *mark = mark_of(qp);

	return mark ? (enum modern_tgt_use)((mark - marks[0]) % (MODERN_TGT_PAIRED + 1)) : MODERN_TGT_NONE;
}

ORDERED_BY_KERNEL bool tgt_qp_is_opened(const struct ibv_qp *qp)
{
	const char *mark = mark_of(qp);

	return mark && mark >= marks[1];
}

int modern_create_tgt_qp(struct ibv_context *context, struct ibv_xrcd *xrcd, enum modern_tgt_use use,
			 struct ibv_qp **qp)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = &marks[0][use],
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd,
	};
	struct ibv_qp *created;

	created = modern_table.create_qp_ex(context, &attr);
	if (!created)
		return modern_null_status();
	*qp = created;
	return 0;
}

int modern_open_tgt_qp(struct ibv_xrcd *xrcd, uint32_t qp_num, enum modern_tgt_use use, struct ibv_qp **qp)
{
	return opened_qp_open(xrcd, qp_num, &marks[1][use], qp);
}

int modern_destroy_inherited(struct ibv_qp *qp)
{
	return modern_table.cmd_destroy_qp ? modern_status(modern_table.cmd_destroy_qp(qp)) : modern_destroy_qp(qp);
}

bool modern_tags_tgt_qps(struct ibv_context *context)
{
	struct verbs_context *verbs = verbs_get_ctx_op(context, create_qp_ex);
	char name[PROVIDER_NAME_SIZE] = "";

	if (verbs)
		provider_name((const void *)verbs->create_qp_ex, name);
	return !strcmp(name, "mlx4");
}
