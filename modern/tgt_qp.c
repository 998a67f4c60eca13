/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Target QPs of today: XRC_RECV QPs created with ibv_create_qp_ex and shared with ibv_open_qp. */

#include <errno.h>

#include "event.h"
#include "modern.h"
#include "opened.h"
#include "provider.h"
#include "table.h"
#include "tgt_qp.h"

/*
 * The qp_context of each of our handles is the address of one of these, which no application has by accident. Row 0 is for
 * handles that were created, the others for opened ones, by the detours that they need.
 */
static char marks[1 + OPENED_DETOURS][MODERN_TGT_PAIRED + 1];

static const char *mark_of(const struct ibv_qp *qp)
{
	const char *mark = qp->qp_context, *first = (const char *)marks;

	return mark >= first && mark < first + sizeof(marks) ? mark : NULL;
}

enum modern_tgt_use modern_tgt_use(const struct ibv_qp *qp)
{
	const char *mark = mark_of(qp);

	return mark ? (enum modern_tgt_use)((mark - marks[0]) % (MODERN_TGT_PAIRED + 1)) : MODERN_TGT_NONE;
}

bool tgt_qp_opened(const struct ibv_qp *qp, unsigned *detours)
{
	const char *mark = mark_of(qp);

	if (!mark || mark < marks[1])
		return false;
	*detours = (unsigned)((mark - marks[1]) / (MODERN_TGT_PAIRED + 1));
	return true;
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
	struct event_source *source = event_hold_reading(context);
	struct ibv_qp *created = modern_table.create_qp_ex(context, &attr);

	event_let_read(source);
	if (!created)
		return modern_null_status();
	*qp = created;
	return 0;
}

/* Kernels before 5.0 say ENOSYS for a command that the device does not have. */
static int open_status(void)
{
	int err = modern_null_status();

	return err == -ENOSYS ? -EOPNOTSUPP : err;
}

int modern_open_tgt_qp(struct ibv_context *context, struct ibv_xrcd *xrcd, uint32_t qp_num, enum modern_tgt_use use,
		       struct ibv_qp **qp)
{
	unsigned detours = opened_detours(context);
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_CONTEXT |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qp_num,
		.xrcd = xrcd,
		.qp_context = &marks[1 + detours][use],
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct event_source *source;
	struct ibv_qp *opened;

	if (!opened_endable(detours))
		return -EOPNOTSUPP;
	source = event_hold_reading(context);
	errno = 0;
	opened = modern_table.open_qp(context, &attr);
	event_let_read(source);
	if (!opened)
		return open_status();
	*qp = opened;
	return 0;
}

/* Numbers have 24 bits (InfiniBand Architecture Specification 9.2.5). */
#define NO_QP_NUM 0xffffffffu

int modern_shares_tgt_qps(struct ibv_context *context, struct ibv_xrcd *xrcd, bool *shares)
{
	struct ibv_qp *qp = NULL;
	int err = modern_open_tgt_qp(context, xrcd, NO_QP_NUM, MODERN_TGT_TRANSIENT, &qp);

	if (!err)
		return modern_destroy_qp(qp), -EIO;
	if (err != -EINVAL && err != -EOPNOTSUPP)
		return err;
	*shares = err == -EINVAL;
	return 0;
}

bool modern_tags_tgt_qps(struct ibv_context *context)
{
	return provider_traits(context) & PROVIDER_TAGS_TARGETS;
}
