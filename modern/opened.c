/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The verbs on handles from ibv_open_qp that libmlx5 cannot be trusted with.
 *
 * What the provider asks the kernel first, by ibv_cmd_* of libibverbs, is all that such a handle needs: it has no rings
 * and no doorbell record to free or to reset, which is what the provider then forgets.
 */

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <stdatomic.h>
#include <stddef.h>

#include "opened.h"
#include "provider.h"
#include "table.h"

static const void *open_function(struct ibv_context *context)
{
	struct verbs_context *verbs = verbs_get_ctx_op(context, open_qp);

	return verbs ? (const void *)verbs->open_qp : NULL;
}

static unsigned find_detours(const void *function)
{
	struct provider provider = provider_of_function(function);
	unsigned detours = 0;

	if (provider_has(&provider, PROVIDER_MLX5_DESTROY_OPENED))
		detours |= OPENED_NO_DESTROY;
	if (provider_has(&provider, PROVIDER_MLX5_RESET_OPENED))
		detours |= OPENED_NO_RESET;
	return detours;
}

unsigned opened_detours(struct ibv_context *context)
{
	/* By what it takes: the function of a provider that was seen to take it. A process has one or two providers. */
	static const void *_Atomic seen[OPENED_DETOURS];
	const void *function = open_function(context);
	unsigned detours;

	for (detours = 0; detours < OPENED_DETOURS; detours++)
		if (atomic_load_explicit(&seen[detours], memory_order_relaxed) == function)
			return detours;
	detours = find_detours(function);
	atomic_store_explicit(&seen[detours], function, memory_order_relaxed);
	return detours;
}

bool opened_endable(unsigned detours)
{
	return !(detours & OPENED_NO_DESTROY) || modern_table.cmd_destroy_qp;
}

int opened_destroy(struct ibv_qp *qp, unsigned detours)
{
	return detours & OPENED_NO_DESTROY ? modern_table.cmd_destroy_qp(qp) : modern_table.destroy_qp(qp);
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
	if (detours & OPENED_NO_RESET && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RESET)
		return reset(qp, attr, mask);
	return modern_table.modify_qp(qp, attr, mask);
}
