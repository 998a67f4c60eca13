/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about protection domains and memory regions. */
#include "cmd.h"

#include <softhca/base/refuse.h>
#include <softhca/objects/objects.h>

#include <errno.h>

int cmd_alloc_pd(struct cmd *cmd)
{
	struct ib_uverbs_alloc_pd_resp resp;
	struct hca_pd *pd = object_new(cmd->ctx, HCA_PD, sizeof(*pd));

	if (!pd)
		return -ENOMEM;
	resp.pd_handle = pd->obj.handle;
	return cmd_introduce(cmd, &pd->obj, &resp, sizeof(resp), &pd->obj.number,
			     sizeof(pd->obj.number));
}

int cmd_reg_mr(struct cmd *cmd)
{
	const struct ib_uverbs_reg_mr *request = cmd->in;
	const struct mr_range range = { request->start, request->length, request->hca_va,
					request->access_flags };
	struct hca_pd *pd = object_find(cmd->ctx, HCA_PD, request->pd_handle);
	struct ib_uverbs_reg_mr_resp resp;
	struct hca_mr *mr;
	int err = mr_check(cmd->ctx, &range);

	if (!pd)
		return refuse(-EINVAL, "PD handle");
	if (!err)
		err = memlock_check(cmd->ctx, range.start, range.length, NULL);
	if (!err)
		err = mr_create(cmd->ctx, pd, &range, &mr);
	if (err)
		return err;
	resp.mr_handle = mr->obj.handle;
	resp.lkey = resp.rkey = mr->key;
	return cmd_introduce(cmd, &mr->obj, &resp, sizeof(resp), NULL, 0);
}

/* What the flags do not name stays as it is. */
static void merge(const struct hca_mr *mr, const struct ib_uverbs_rereg_mr *request,
		  struct mr_range *range)
{
	bool moved = request->flags & IBV_REREG_MR_CHANGE_TRANSLATION;

	range->start = moved ? request->start : mr->start;
	range->length = moved ? request->length : mr->length;
	range->iova = moved ? request->hca_va : mr->iova;
	range->access = request->flags & IBV_REREG_MR_CHANGE_ACCESS ? request->access_flags
								    : mr->access;
}

int cmd_rereg_mr(struct cmd *cmd)
{
	const struct ib_uverbs_rereg_mr *request = cmd->in;
	const uint32_t known = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD |
			       IBV_REREG_MR_CHANGE_ACCESS;
	struct hca_mr *mr = object_find(cmd->ctx, HCA_MR, request->mr_handle);
	struct ib_uverbs_rereg_mr_resp resp;
	struct mr_range range;
	struct hca_pd *pd;
	int err;

	if (!request->flags || request->flags & ~known || !mr)
		return refuse(-EINVAL, "rereg flags or MR handle");
	pd = mr->pd;
	if (request->flags & IBV_REREG_MR_CHANGE_PD)
		pd = object_find(cmd->ctx, HCA_PD, request->pd_handle);
	if (!pd)
		return refuse(-EINVAL, "PD handle");
	merge(mr, request, &range);
	err = mr_check(cmd->ctx, &range);
	if (!err && request->flags & IBV_REREG_MR_CHANGE_TRANSLATION)
		err = memlock_check(cmd->ctx, range.start, range.length, mr);
	if (err)
		return err;
	mr_change(mr, pd, &range);
	resp.lkey = resp.rkey = mr->key;
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}
