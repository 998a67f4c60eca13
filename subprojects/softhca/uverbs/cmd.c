/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table of uverbs commands, and what the kernel checks about each before it looks inside. */
#include "cmd.h"

#include <base/refuse.h>
#include <machine/trace.h>
#include <qp/qp.h>
#include <wire/wire.h>

#include <errno.h>
#include <string.h>

struct row {
	uint32_t command;
	const char *name;
	cmd_fn *execute;
	size_t in_size, out_size; /* least sizes, without headers and driver parts */
	/* the object that the request names first */
	enum { NONE, USES, ENDS } takes;
	enum hca_type type;
	size_t handle; /* the place of its handle in the request */
	bool needs_xrc, needs_open_qp;
	/* an adapter would have sent all earlier requests long before it hears of the command */
	bool after_work;
};

#define CMD(name) IB_USER_VERBS_CMD_##name, #name
#define EX(name)  IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_##name, "EX_" #name
#define IN(type)  sizeof(struct ib_uverbs_##type)
#define OUT(type) sizeof(struct ib_uverbs_##type##_resp)
#define IO(type)  IN(type), OUT(type)
/* The request uses, or ends, the object whose handle is this member. */
#define ON(object, request, member) \
	.takes = USES, .type = object, .handle = offsetof(struct ib_uverbs_##request, member)
#define END(object, request, member) \
	.takes = ENDS, .type = object, .handle = offsetof(struct ib_uverbs_##request, member)

static cmd_fn cmd_destroy;

static const struct row rows[] = {
	{ CMD(GET_CONTEXT), cmd_get_context, IO(get_context) },
	{ CMD(QUERY_DEVICE), cmd_query_device, IO(query_device) },
	{ CMD(QUERY_PORT), cmd_query_port, IO(query_port) },
	{ CMD(ALLOC_PD), cmd_alloc_pd, IO(alloc_pd) },
	{ CMD(DEALLOC_PD), cmd_destroy, IN(dealloc_pd), 0,
	  END(HCA_PD, dealloc_pd, pd_handle) },
	{ CMD(CREATE_AH), cmd_create_ah, IO(create_ah) },
	{ CMD(DESTROY_AH), cmd_destroy, IN(destroy_ah), 0,
	  END(HCA_AH, destroy_ah, ah_handle) },
	{ CMD(REG_MR), cmd_reg_mr, IO(reg_mr) },
	{ CMD(REREG_MR), cmd_rereg_mr, IO(rereg_mr), .after_work = true,
	  ON(HCA_MR, rereg_mr, mr_handle) },
	{ CMD(DEREG_MR), cmd_destroy, IN(dereg_mr), 0,
	  END(HCA_MR, dereg_mr, mr_handle), .after_work = true },
	{ CMD(CREATE_COMP_CHANNEL), cmd_create_comp_channel, IO(create_comp_channel) },
	{ CMD(CREATE_CQ), cmd_create_cq, IO(create_cq) },
	{ CMD(RESIZE_CQ), cmd_resize_cq, IN(resize_cq),
	  offsetof(struct ib_uverbs_resize_cq_resp, reserved), .after_work = true,
	  ON(HCA_CQ, resize_cq, cq_handle) },
	{ CMD(DESTROY_CQ), cmd_destroy_cq, IO(destroy_cq),
	  END(HCA_CQ, destroy_cq, cq_handle) },
	{ CMD(CREATE_QP), cmd_create_qp, IO(create_qp) },
	{ CMD(QUERY_QP), cmd_query_qp, IO(query_qp),
	  ON(HCA_QP, query_qp, qp_handle) },
	{ CMD(MODIFY_QP), cmd_modify_qp, IN(modify_qp), 0, .after_work = true,
	  ON(HCA_QP, modify_qp, qp_handle) },
	{ CMD(DESTROY_QP), cmd_destroy_qp, IO(destroy_qp), .after_work = true,
	  END(HCA_QP, destroy_qp, qp_handle) },
	{ CMD(ATTACH_MCAST), cmd_attach_mcast, IN(attach_mcast), 0,
	  ON(HCA_QP, attach_mcast, qp_handle) },
	{ CMD(DETACH_MCAST), cmd_detach_mcast, IN(detach_mcast), 0, .after_work = true,
	  ON(HCA_QP, detach_mcast, qp_handle) },
	{ CMD(CREATE_SRQ), cmd_create_srq, IO(create_srq) },
	{ CMD(MODIFY_SRQ), cmd_modify_srq, IN(modify_srq), 0, .after_work = true,
	  ON(HCA_SRQ, modify_srq, srq_handle) },
	{ CMD(QUERY_SRQ), cmd_query_srq, IO(query_srq),
	  ON(HCA_SRQ, query_srq, srq_handle) },
	{ CMD(DESTROY_SRQ), cmd_destroy_srq, IO(destroy_srq), .after_work = true,
	  END(HCA_SRQ, destroy_srq, srq_handle) },
	{ CMD(OPEN_XRCD), cmd_open_xrcd, IO(open_xrcd), .needs_xrc = true },
	{ CMD(CLOSE_XRCD), cmd_destroy, IN(close_xrcd), 0,
	  END(HCA_XRCD, close_xrcd, xrcd_handle), .needs_xrc = true },
	{ CMD(CREATE_XSRQ), cmd_create_xsrq, IN(create_xsrq), OUT(create_srq) },
	{ CMD(OPEN_QP), cmd_open_qp, IN(open_qp), OUT(create_qp), .needs_open_qp = true },
	{ EX(QUERY_DEVICE), cmd_ex_query_device, IN(ex_query_device),
	  offsetof(struct ib_uverbs_ex_query_device_resp, odp_caps) },
	{ EX(CREATE_CQ), cmd_ex_create_cq, IN(ex_create_cq), OUT(ex_create_cq) },
	{ EX(CREATE_QP), cmd_ex_create_qp, offsetof(struct ib_uverbs_ex_create_qp, create_flags),
	  OUT(ex_create_qp) },
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct row *find_row(uint32_t command)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (rows[i].command == command)
			return &rows[i];
	}
	return NULL;
}

/* Commands that the kernel knows and the driver lacks are "not supported", not invalid. */
static int unknown(uint32_t command)
{
	bool ex = command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	uint32_t number = command & IB_USER_VERBS_CMD_COMMAND_MASK;

	if (command & ~(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_CMD_COMMAND_MASK))
		return -EINVAL;
	return ex || number <= IB_USER_VERBS_CMD_OPEN_QP ? -EOPNOTSUPP : -EINVAL;
}

static const char *name_of(const struct row *row)
{
	return row ? row->name : "unknown";
}

const char *cmd_name(uint32_t command)
{
	return name_of(find_row(command));
}

int cmd_number(const char *name, uint32_t *command)
{
	for (size_t i = 0; i < ROWS; i++) {
		if (strcmp(rows[i].name, name))
			continue;
		*command = rows[i].command;
		return 0;
	}
	return -ENOENT;
}

/* Words of 4 bytes, headers included. The request begins with the response's address. */
static int split_legacy(struct cmd *cmd, const struct row *row, const uint8_t *bytes, size_t size)
{
	const struct ib_uverbs_cmd_hdr *hdr = (const void *)bytes;
	size_t out = hdr->out_words * 4u;

	if (hdr->in_words * 4u != size)
		return refuse(-EINVAL, "in_words");
	/* Newer kernels answer a request that is too short with ENOSPC. */
	if (size < row->in_size + sizeof(*hdr))
		return refuse(-EINVAL, "request too short");
	/* Not malformed: the response would not fit, which is ENOSPC. */
	if (out < row->out_size)
		return refuse(-ENOSPC, "response too short");
	cmd->in = bytes + sizeof(*hdr);
	cmd->in_size = row->in_size;
	cmd->driver_in = bytes + sizeof(*hdr) + row->in_size;
	cmd->driver_in_size = size - sizeof(*hdr) - row->in_size;
	if (row->out_size)
		memcpy(&cmd->response, cmd->in, sizeof(cmd->response));
	cmd->out_size = row->out_size;
	cmd->driver_out_size = out - row->out_size;
	return 0;
}

static int split_extended(struct cmd *cmd, const struct row *row, const uint8_t *bytes, size_t size)
{
	const struct ib_uverbs_cmd_hdr *hdr = (const void *)bytes;
	const struct ib_uverbs_ex_cmd_hdr *ex = (const void *)(hdr + 1);
	const size_t headers = sizeof(*hdr) + sizeof(*ex);

	if (size < headers ||
	    (size_t)(hdr->in_words + ex->provider_in_words) * 8 != size - headers ||
	    ex->cmd_hdr_reserved)
		return refuse(-EINVAL, "in_words");
	if (hdr->in_words * 8u < row->in_size)
		return refuse(-EINVAL, "request too short");
	if (!ex->response != !(hdr->out_words || ex->provider_out_words))
		return refuse(-EINVAL, "response without room, or room without response");
	if (hdr->out_words * 8u < row->out_size)
		return refuse(-ENOSPC, "response too short");
	cmd->in = bytes + headers;
	cmd->in_size = hdr->in_words * 8u;
	cmd->driver_in = bytes + headers + cmd->in_size;
	cmd->driver_in_size = ex->provider_in_words * 8u;
	cmd->response = ex->response;
	cmd->out_size = hdr->out_words * 8u;
	cmd->driver_out_size = ex->provider_out_words * 8u;
	return 0;
}

static int supported(const struct hca_context *ctx, const struct row *row)
{
	const struct settings *settings = &ctx->device->machine->settings;

	if ((row->needs_xrc || row->needs_open_qp) && !settings->xrc)
		return refuse(-EOPNOTSUPP, "no XRC on this device");
	if (row->needs_open_qp && !settings->open_qp)
		return refuse(-EOPNOTSUPP, "no ibv_open_qp on this device");
	return 0;
}

static int find_object(struct cmd *cmd, const struct row *row)
{
	uint32_t handle;
	int err;

	if (row->takes == NONE)
		return 0;
	memcpy(&handle, (const uint8_t *)cmd->in + row->handle, sizeof(handle));
	cmd->object = object_find_for(cmd->ctx, row->type, handle, row->takes == ENDS, &err);
	return err;
}

static int execute(struct cmd *cmd, const struct row *row, const uint8_t *bytes, size_t size)
{
	const struct ib_uverbs_cmd_hdr *hdr = (const void *)bytes;
	int err;

	if (size < sizeof(*hdr))
		return refuse(-EINVAL, "no header");
	if (!row)
		return refuse(unknown(hdr->command), "no such command");
	err = hdr->command & IB_USER_VERBS_CMD_FLAG_EXTENDED ? split_extended(cmd, row, bytes, size)
							     : split_legacy(cmd, row, bytes, size);
	if (err)
		return err;
	/* GET_CONTEXT must be the first command, and can be given only once. */
	if (cmd->ctx->ready == (row->execute == cmd_get_context))
		return refuse(-EINVAL, "GET_CONTEXT comes first, and once");
	err = supported(cmd->ctx, row);
	if (err)
		return err;
	err = fault_of_command(&cmd->ctx->device->faults, hdr->command);
	if (err)
		return refuse(err, "a fault that was ordered");
	if (row->after_work)
		engine_catch_up(cmd->ctx->device->machine);
	err = find_object(cmd, row);
	return err ? err : row->execute(cmd);
}

int cmd_execute(struct hca_context *ctx, const void *bytes, size_t size, int fd, int *give,
		uint64_t *give_at)
{
	const struct ib_uverbs_cmd_hdr *hdr = bytes;
	const struct row *row = size < sizeof(*hdr) ? NULL : find_row(hdr->command);
	struct cmd cmd = { .ctx = ctx, .fd = fd, .give = -1 };
	int result;

	refuse_begin();
	result = execute(&cmd, row, bytes, size);
	trace_note(ctx->device->machine, ctx->device->name, ctx->client.pid, name_of(row), result);
	ctx->device->machine->active = true;
	*give = cmd.give;
	*give_at = cmd.give < 0 ? 0 : cmd.response;
	return result;
}

static int cmd_destroy(struct cmd *cmd)
{
	object_destroy(cmd->object);
	return 0;
}
