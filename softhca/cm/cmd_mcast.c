/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about multicast groups. */
#include "cm.h"

#include <softhca/base/refuse.h>

#include <errno.h>
#include <string.h>

static int join(struct cm_cmd *cmd, const union cm_address *address, uint64_t uid,
		uint64_t response)
{
	struct rdma_ucm_create_id_resp resp;
	uint32_t reported;
	int err = cm_join(cmd->id, address, uid, &resp.id);

	if (err)
		return err;
	err = cm_file_write(cmd->file, response, &resp, sizeof(resp));
	if (err)
		cm_leave(cmd->file, resp.id, &reported);
	return err;
}

int cm_cmd_join_ip_mcast(struct cm_cmd *cmd)
{
	const struct rdma_ucm_join_ip_mcast *in = cmd->in;
	union cm_address address;

	return cm_addr_take_ip(&address, &in->addr) ? join(cmd, &address, in->uid, in->response)
						    : refuse(-EINVAL, "address");
}

int cm_cmd_join_mcast(struct cm_cmd *cmd)
{
	const struct rdma_ucm_join_mcast *in = cmd->in;
	union cm_address address;

	/* To send only is to join as a whole here: whoever is not attached gets nothing anyway. */
	if (in->join_flags > RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER ||
	    !cm_addr_take_storage(&address, &in->addr, in->addr_size))
		return refuse(-EINVAL, "address, or flags");
	return join(cmd, &address, in->uid, in->response);
}

int cm_cmd_leave_mcast(struct cm_cmd *cmd)
{
	const struct rdma_ucm_destroy_id *in = cmd->in;
	struct rdma_ucm_destroy_id_resp resp;
	int err = cm_leave(cmd->file, in->id, &resp.events_reported);

	return err ? err : cm_file_write(cmd->file, in->response, &resp, sizeof(resp));
}
