/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The verbs on handles from ibv_open_qp that libmlx5 cannot be trusted with.
 *
 * What the provider asks the kernel first, by ibv_cmd_* of libibverbs, is all that such a handle needs: it has no rings
 * and no doorbell record to free or to reset, which is what the provider then forgets.
 */

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stddef.h>

#include "opened.h"
#include "provider.h"
#include "table.h"

unsigned opened_detours(struct ibv_context *context)
{
	return provider_traits(context) & (PROVIDER_NO_DESTROY_OPENED | PROVIDER_NO_RESET_OPENED);
}

bool opened_endable(unsigned detours)
{
	return !(detours & PROVIDER_NO_DESTROY_OPENED) || modern_table.cmd_destroy_qp;
}

int opened_destroy(struct ibv_qp *qp, unsigned detours)
{
	return detours & PROVIDER_NO_DESTROY_OPENED ? modern_table.cmd_destroy_qp(qp) : modern_table.destroy_qp(qp);
}

static int reset(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	/* libibverbs' own struct ibv_modify_qp is not public; this is its beginning and all that is sent. */
	struct {
		struct ib_uverbs_cmd_hdr header;
		struct ib_uverbs_modify_qp core;
	} command = { .header = { .command = 0 } };
	int ret;

	if (!modern_table.cmd_modify_qp)
		return EOPNOTSUPP;
	ret = modern_table.cmd_modify_qp(qp, attr, mask, &command, sizeof(command));
	if (!ret)
		qp->state = attr->qp_state;
	return ret;
}

int opened_modify(struct ibv_qp *qp, unsigned detours, struct ibv_qp_attr *attr, int mask)
{
	if (detours & PROVIDER_NO_RESET_OPENED && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		return reset(qp, attr, mask);
	return modern_table.modify_qp(qp, attr, mask);
}
