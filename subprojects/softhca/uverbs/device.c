/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about the device, and about address handles. */
#include "cmd.h"

#include <base/kernel.h>
#include <base/refuse.h>
#include <machine/port.h>
#include <wire/wire.h>

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define VENDOR 0x02c9
#define WIDTH_4X     2

int cmd_get_context(struct cmd *cmd)
{
	const struct settings *settings = &cmd->ctx->device->machine->settings;
	struct ib_uverbs_get_context_resp resp = { .num_comp_vectors = OBJECTS_COMP_VECTORS };
	struct driver_part driver;
	struct hca_channel *channel;
	uint8_t cqe_version;
	int err, reader;

	err = cmd->ctx->device->model->context(cmd->driver_in, cmd->driver_in_size, settings->ports,
					       &settings->limits, &driver, &cqe_version);
	if (err)
		return err;
	channel = channel_new(cmd->ctx, &reader, &err);
	if (!channel)
		return err;
	err = cmd_respond(cmd, &resp, sizeof(resp), driver.bytes, driver.size);
	if (err) {
		close(reader);
		channel_free(channel);
		return err;
	}
	cmd->ctx->async = channel;
	cmd->ctx->cqe_version = cqe_version;
	cmd->ctx->ready = true;
	cmd->give = reader;
	return 0;
}

uint32_t device_capabilities(const struct settings *settings)
{
	return IB_UVERBS_DEVICE_BAD_PKEY_CNTR | IB_UVERBS_DEVICE_BAD_QKEY_CNTR |
	       IB_UVERBS_DEVICE_AUTO_PATH_MIG |
	       IB_UVERBS_DEVICE_CURR_QP_STATE_MOD | IB_UVERBS_DEVICE_SHUTDOWN_PORT |
	       IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT | IB_UVERBS_DEVICE_SYS_IMAGE_GUID |
	       IB_UVERBS_DEVICE_RC_RNR_NAK_GEN | (settings->xrc ? IB_UVERBS_DEVICE_XRC : 0);
}

static void describe(const struct hca_device *device, struct ib_uverbs_query_device_resp *resp)
{
	const struct settings *settings = &device->machine->settings;
	const struct limits *limits = &settings->limits;

	memset(resp, 0, sizeof(*resp));
	resp->fw_ver = device->model->fw_ver;
	resp->node_guid = htobe64(device->guid);
	resp->sys_image_guid = htobe64(device_system_guid(device));
	resp->max_mr_size = UINT64_MAX;
	resp->page_size_cap = 0xfffffe00;
	resp->vendor_id = VENDOR;
	resp->vendor_part_id = device->model->part_id;
	resp->max_qp = (uint32_t)limits->max_qp;
	resp->max_qp_wr = (uint32_t)limits->max_qp_wr;
	resp->device_cap_flags = device_capabilities(settings);
	resp->max_sge = resp->max_sge_rd = (uint32_t)limits->max_sge;
	resp->max_cq = (uint32_t)limits->max_cq;
	resp->max_cqe = (uint32_t)limits->max_cqe;
	resp->max_mr = (uint32_t)limits->max_mr;
	resp->max_pd = (uint32_t)limits->max_pd;
	resp->max_qp_rd_atom = (uint32_t)limits->max_qp_rd_atom;
	resp->max_res_rd_atom = resp->max_qp_rd_atom * resp->max_qp;
	resp->max_qp_init_rd_atom = (uint32_t)limits->max_qp_init_rd_atom;
	resp->atomic_cap = IBV_ATOMIC_HCA;
	resp->max_mcast_grp = device->model->max_groups;
	resp->max_mcast_qp_attach = device->model->max_group_members;
	resp->max_total_mcast_qp_attach = resp->max_mcast_grp * resp->max_mcast_qp_attach;
	resp->max_ah = INT32_MAX;
	resp->max_srq = (uint32_t)limits->max_srq;
	resp->max_srq_wr = (uint32_t)limits->max_srq_wr;
	resp->max_srq_sge = (uint32_t)limits->max_srq_sge;
	resp->max_pkeys = port_pkeys(device->machine);
	resp->local_ca_ack_delay = device->model->ack_delay;
	resp->phys_port_cnt = (uint8_t)settings->ports;
}

int cmd_query_device(struct cmd *cmd)
{
	struct ib_uverbs_query_device_resp resp;

	describe(cmd->ctx->device, &resp);
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}

int cmd_ex_query_device(struct cmd *cmd)
{
	const struct ib_uverbs_ex_query_device *request = cmd->in;
	struct ib_uverbs_ex_query_device_resp resp = { 0 };
	struct driver_part driver;

	if (request->comp_mask || request->reserved)
		return refuse(-EINVAL, "comp_mask or reserved");
	describe(cmd->ctx->device, &resp.base);
	resp.response_length =
		(uint32_t)(cmd->out_size < sizeof(resp) ? cmd->out_size : sizeof(resp));
	resp.device_cap_flags_ex = resp.base.device_cap_flags;
	resp.timestamp_mask = cmd->ctx->device->model->timestamp_mask;
	resp.hca_core_clock = cmd->ctx->device->model->clock_khz;
	cmd->ctx->device->model->device_caps(&driver);
	return cmd_respond(cmd, &resp, sizeof(resp), driver.bytes, driver.size);
}

int cmd_query_port(struct cmd *cmd)
{
	const struct ib_uverbs_query_port *request = cmd->in;
	const struct hca_device *device = cmd->ctx->device;
	struct ib_uverbs_query_port_resp resp = { 0 };
	const struct hca_port *port;

	if (request->port_num < 1 || request->port_num > device->machine->settings.ports)
		return refuse(-EINVAL, "port number");
	port = &device->port[request->port_num];
	resp.port_cap_flags = port_capabilities(device->machine);
	resp.max_msg_sz = TRANSPORT_MAX_MESSAGE;
	resp.gid_tbl_len = PORT_GIDS;
	resp.pkey_tbl_len = port_pkeys(device->machine);
	resp.lid = port_lid(device, request->port_num);
	resp.sm_lid = port_sm_lid(device->machine);
	resp.state = port->active ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
	resp.max_mtu = IBV_MTU_4096;
	resp.active_mtu = port_mtu(device->machine);
	resp.max_vl_num = 4;
	resp.subnet_timeout = device->machine->settings.ethernet ? 0 : 18;
	resp.active_width = WIDTH_4X;
	resp.active_speed = device->model->link_speed;
	resp.phys_state = port->active ? PORT_LINK_UP : PORT_POLLING;
	resp.link_layer = device->machine->settings.ethernet ? IBV_LINK_LAYER_ETHERNET
							     : IBV_LINK_LAYER_INFINIBAND;
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}

/* ---- address handles: libmlx5 asks for the Ethernet address behind a GID ---- */

static int resolve(const struct hca_device *device, const struct ib_uverbs_ah_attr *attr,
		   uint8_t mac[6])
{
	const bool ethernet = device->machine->settings.ethernet;
	uint8_t own[16];

	if (!attr->is_global && ethernet)
		return refuse(-EINVAL, "address handle without a GRH");
	if (!attr->is_global)
		return 0;
	if (attr->grh.sgid_index >= PORT_GIDS)
		return refuse(-EINVAL, "GID index");
	if (port_gid(device, attr->port_num, attr->grh.sgid_index, own) == GID_NONE)
		return refuse(-ENODATA, "GID index of an empty entry");
	if (!ethernet || port_mac(device->machine, attr->grh.dgid, mac))
		return 0;
	return refuse(-ETIMEDOUT, "GID of no port");
}

static void release(struct hca_object *object)
{
	container_of(object, struct hca_ah, obj)->pd->obj.uses--;
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
	int err;

	if (in->attr.port_num < 1 || in->attr.port_num > device->machine->settings.ports)
		return refuse(-EINVAL, "port number");
	if (!pd)
		return refuse(-EINVAL, "PD handle");
	err = resolve(device, &in->attr, mac);
	if (err)
		return err;
	ah = object_new(cmd->ctx, HCA_AH, sizeof(*ah), release);
	if (!ah)
		return -ENOMEM;
	ah->pd = pd;
	pd->obj.uses++;
	if (device->model->answer_ah)
		device->model->answer_ah(mac, &driver);
	resp.ah_handle = ah->obj.handle;
	return cmd_introduce(cmd, &ah->obj, &resp, sizeof(resp), driver.bytes, driver.size);
}
