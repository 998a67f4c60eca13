/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about XRC domains. */
#include "cmd.h"

#include <softhca/base/refuse.h>
#include <softhca/objects/objects.h>

#include <errno.h>

int cmd_open_xrcd(struct cmd *cmd)
{
	const struct ib_uverbs_open_xrcd *in = cmd->in;
	struct ib_uverbs_open_xrcd_resp resp;
	struct hca_xrcd_handle *handle;
	int err;

	/* Named, but the preload had nothing to attach: no such descriptor is open. */
	if (in->fd != UINT32_MAX && cmd->fd < 0)
		return refuse(-EBADF, "no such descriptor");
	err = xrcd_open(cmd->ctx, in->fd == UINT32_MAX ? -1 : cmd->fd, (int)in->oflags, &handle);
	if (err)
		return err;
	resp.xrcd_handle = handle->obj.handle;
	return cmd_introduce(cmd, &handle->obj, &resp, sizeof(resp), NULL, 0);
}
