/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about address handles: libmlx5 asks the kernel for the Ethernet address behind a GID. */
#include "cmd.h"

#include <softhca/base/refuse.h>
#include <softhca/machine/port.h>
#include <softhca/objects/objects.h>

#include <errno.h>

static int resolve(const struct hca_device *device, const struct ib_uverbs_ah_attr *attr,
		   uint8_t mac[6])
{
	uint8_t own[16];

	if (attr->port_num < 1 || attr->port_num > device->machine->settings.ports)
		return refuse(-EINVAL, "port number");
	if (!attr->is_global)
		return device->machine->settings.ethernet
			       ? refuse(-EINVAL, "address handle without a GRH")
			       : 0;
	if (port_gid(device, attr->port_num, attr->grh.sgid_index, own) == GID_NONE)
		return attr->grh.sgid_index < PORT_GIDS
			       ? refuse(-ENODATA, "GID index of an empty entry")
			       : refuse(-EINVAL, "GID index");
	if (!device->machine->settings.ethernet || port_mac(device->machine, attr->grh.dgid, mac))
		return 0;
	return refuse(-ETIMEDOUT, "GID of no port");
}

int cmd_create_ah(struct cmd *cmd)
{
	const struct ib_uverbs_create_ah *in = cmd->in;
	const struct hca_device *device = cmd->ctx->device;
	struct hca_pd *pd = object_find(cmd->ctx, HCA_PD, in->pd_handle);
	struct ib_uverbs_create_ah_resp resp;
	struct driver_part driver = { .size = 0 };
	uint8_t mac[6] = { 0 };
	struct hca_ah *ah;
	int err = resolve(device, &in->attr, mac);

	if (err)
		return err;
	if (!pd)
		return refuse(-EINVAL, "PD handle");
	ah = object_new(cmd->ctx, HCA_AH, sizeof(*ah));
	if (!ah)
		return -ENOMEM;
	ah->pd = pd;
	pd->obj.uses++;
	if (device->model->answer_ah)
		device->model->answer_ah(mac, &driver);
	resp.ah_handle = ah->obj.handle;
	return cmd_introduce(cmd, &ah->obj, &resp, sizeof(resp), driver.bytes, driver.size);
}
