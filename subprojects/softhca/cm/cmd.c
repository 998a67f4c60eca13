/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The table of the connection manager's commands, and the checks of their headers. */
#include "id.h"

#include <base/refuse.h>
#include <machine/trace.h>

#include <errno.h>
#include <string.h>

struct row {
	uint32_t command;
	const char *name;
	cm_command *execute;
	size_t least, size; /* of the request; those between are of older programs */
	size_t out;	    /* room for the response */
	enum { NO_ID, ANY_ID, BOUND_ID } needs;
	size_t id; /* the place of its number in the request */
};

#define CMD(name)	 RDMA_USER_CM_CMD_##name, #name
#define WHOLE(type)	 sizeof(struct rdma_ucm_##type), sizeof(struct rdma_ucm_##type)
#define SINCE(type, end) offsetof(struct rdma_ucm_##type, end), sizeof(struct rdma_ucm_##type)
#define OUT(type)	 .out = sizeof(struct rdma_ucm_##type##_resp)
#define ANY(type)	 .needs = ANY_ID, .id = offsetof(struct rdma_ucm_##type, id)
#define BOUND(type)	 .needs = BOUND_ID, .id = offsetof(struct rdma_ucm_##type, id)

#define MOST_REQUEST 512 /* bytes; no request is longer */

_Static_assert(sizeof(struct rdma_ucm_connect) <= MOST_REQUEST &&
		       sizeof(struct rdma_ucm_accept) <= MOST_REQUEST &&
		       sizeof(struct rdma_ucm_resolve_addr) <= MOST_REQUEST &&
		       sizeof(struct rdma_ucm_join_mcast) <= MOST_REQUEST,
	       "execute() has room for the requests that hold data or addresses");

static const struct row rows[] = {
	{ CMD(CREATE_ID), cm_cmd_create_id, WHOLE(create_id), OUT(create_id) },
	{ CMD(DESTROY_ID), cm_cmd_destroy_id, SINCE(destroy_id, reserved), OUT(destroy_id),
	  ANY(destroy_id) },
	{ CMD(BIND_IP), cm_cmd_bind_ip, WHOLE(bind_ip), ANY(bind_ip) },
	{ CMD(RESOLVE_IP), cm_cmd_resolve_ip, WHOLE(resolve_ip), ANY(resolve_ip) },
	{ CMD(RESOLVE_ROUTE), cm_cmd_resolve_route, WHOLE(resolve_route), BOUND(resolve_route) },
	{ CMD(QUERY_ROUTE), cm_cmd_query_route, SINCE(query, option), ANY(query) },
	{ CMD(CONNECT), cm_cmd_connect, SINCE(connect, ece), BOUND(connect) },
	{ CMD(LISTEN), cm_cmd_listen, WHOLE(listen), ANY(listen) },
	{ CMD(ACCEPT), cm_cmd_accept, SINCE(accept, ece), BOUND(accept) },
	{ CMD(REJECT), cm_cmd_reject, WHOLE(reject), BOUND(reject) },
	{ CMD(DISCONNECT), cm_cmd_disconnect, WHOLE(disconnect), BOUND(disconnect) },
	{ CMD(INIT_QP_ATTR), cm_cmd_init_qp_attr, WHOLE(init_qp_attr),
	  .out = sizeof(struct ib_uverbs_qp_attr), BOUND(init_qp_attr) },
	{ CMD(GET_EVENT), cm_cmd_get_event, WHOLE(get_event) },
	{ CMD(SET_OPTION), cm_cmd_set_option, WHOLE(set_option), ANY(set_option) },
	{ CMD(NOTIFY), cm_cmd_notify, WHOLE(notify), BOUND(notify) },
	{ CMD(JOIN_IP_MCAST), cm_cmd_join_ip_mcast, WHOLE(join_ip_mcast), OUT(create_id),
	  BOUND(join_ip_mcast) },
	{ CMD(LEAVE_MCAST), cm_cmd_leave_mcast, SINCE(destroy_id, reserved), OUT(destroy_id) },
	{ CMD(MIGRATE_ID), cm_cmd_migrate_id, WHOLE(migrate_id), OUT(migrate) },
	{ CMD(QUERY), cm_cmd_query, WHOLE(query), ANY(query) },
	{ CMD(BIND), cm_cmd_bind, WHOLE(bind), ANY(bind) },
	{ CMD(RESOLVE_ADDR), cm_cmd_resolve_addr, WHOLE(resolve_addr), ANY(resolve_addr) },
	{ CMD(JOIN_MCAST), cm_cmd_join_mcast, WHOLE(join_mcast), OUT(create_id),
	  BOUND(join_mcast) },
};

static const struct row *find_row(uint32_t command)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].command == command)
			return &rows[i];
	}
	return NULL;
}

static int find_id(struct cm_cmd *cmd, const struct row *row)
{
	uint32_t number;
	int err;

	if (row->needs == NO_ID)
		return 0;
	memcpy(&number, (const uint8_t *)cmd->in + row->id, sizeof(number));
	err = cm_id_find(cmd->file, number, &cmd->id);
	if (!err && row->needs == BOUND_ID && !cmd->id->device)
		err = refuse(-EINVAL, "id without a device");
	return err;
}

/* The kernel reads beyond a request that is too short; here it is refused. */
static int execute(struct cm_file *file, const struct row *row, const uint8_t *bytes, size_t size,
		   int fd)
{
	const struct rdma_ucm_cmd_hdr *hdr = (const void *)bytes;
	/* Aligned, and nothing undefined where an older program's request ends. */
	uint64_t in[MOST_REQUEST / sizeof(uint64_t)] = { 0 };
	struct cm_cmd cmd = { .file = file, .in = in, .fd = fd };
	int err;

	if (size < sizeof(*hdr) || hdr->in > size - sizeof(*hdr) ||
	    hdr->cmd > RDMA_USER_CM_CMD_JOIN_MCAST)
		return refuse(-EINVAL, "header");
	if (!row)
		return refuse(-ENOSYS, "command that is not known");
	if (hdr->in < row->least)
		return refuse(-EINVAL, "size of the request");
	if (hdr->out < row->out)
		return refuse(-ENOSPC, "room for the answer");
	memcpy(in, bytes + sizeof(*hdr), hdr->in < row->size ? hdr->in : row->size);
	cmd.out_size = hdr->out;
	err = find_id(&cmd, row);
	return err ? err : row->execute(&cmd);
}

int cm_execute(struct cm_file *file, const void *bytes, size_t size, int fd)
{
	const struct rdma_ucm_cmd_hdr *hdr = bytes;
	const struct row *row = size < sizeof(*hdr) ? NULL : find_row(hdr->cmd);
	int result;

	refuse_begin();
	result = execute(file, row, bytes, size, fd);
	/* Not noted: GET_EVENT of a client that waits, which asks again and again. */
	if (result != -EAGAIN)
		trace_note(file->machine, "rdma_cm", file->client.pid, row ? row->name : "unknown",
			   result);
	return result;
}
