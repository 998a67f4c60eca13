/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about multicast groups. */
#include "cmd.h"

#include <softhca/base/refuse.h>
#include <softhca/objects/objects.h>
#include <softhca/qp/qp.h>

#include <errno.h>

int cmd_attach_mcast(struct cmd *cmd)
{
	const struct ib_uverbs_attach_mcast *in = cmd->in;
	struct hca_qp_handle *handle = object_find(cmd->ctx, HCA_QP, in->qp_handle);

	return handle ? mcast_attach(handle->qp, in->gid, in->mlid) : refuse(-EINVAL, "QP handle");
}

int cmd_detach_mcast(struct cmd *cmd)
{
	const struct ib_uverbs_detach_mcast *in = cmd->in;
	struct hca_qp_handle *handle = object_find(cmd->ctx, HCA_QP, in->qp_handle);

	return handle ? mcast_detach(handle->qp, in->gid, in->mlid) : refuse(-EINVAL, "QP handle");
}
