/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about connections. */
#include "cm.h"

#include <softhca/base/refuse.h>

#include <errno.h>

/* Of the reasons only these two may come from programs. */
#define REJ_VENDOR_OPTION 35

int cm_cmd_listen(struct cm_cmd *cmd)
{
	const struct rdma_ucm_listen *in = cmd->in;

	return cm_listen(cmd->id, in->backlog);
}

int cm_cmd_connect(struct cm_cmd *cmd)
{
	const struct rdma_ucm_connect *in = cmd->in;

	return in->conn_param.valid ? cm_connect(cmd->id, &in->conn_param)
				    : refuse(-EINVAL, "connection parameters that are not valid");
}

/*
 * With parameters it is the passive side that accepts a request, without the active side that
 * accepts the answer.
 */
int cm_cmd_accept(struct cm_cmd *cmd)
{
	const struct rdma_ucm_accept *in = cmd->in;
	int err;

	if (!in->conn_param.valid)
		return cm_establish(cmd->id);
	err = cm_accept(cmd->id, &in->conn_param);
	/* Nobody can have raised an event for it before. */
	if (!err)
		cmd->id->uid = in->uid;
	return err;
}

int cm_cmd_reject(struct cm_cmd *cmd)
{
	const struct rdma_ucm_reject *in = cmd->in;
	uint8_t reason = in->reason ? in->reason : CM_REJ_CONSUMER;

	if (reason != CM_REJ_CONSUMER && reason != REJ_VENDOR_OPTION)
		return refuse(-EINVAL, "reason");
	return cm_reject(cmd->id, reason, in->private_data, in->private_data_len);
}

int cm_cmd_disconnect(struct cm_cmd *cmd)
{
	return cm_disconnect(cmd->id);
}

int cm_cmd_notify(struct cm_cmd *cmd)
{
	const struct rdma_ucm_notify *in = cmd->in;

	return cm_notify(cmd->id, in->event);
}

int cm_cmd_init_qp_attr(struct cm_cmd *cmd)
{
	const struct rdma_ucm_init_qp_attr *in = cmd->in;
	struct ib_uverbs_qp_attr resp;
	int err;

	if (in->qp_state > IBV_QPS_ERR)
		return refuse(-EINVAL, "QP state");
	err = cm_query_qp_attr(cmd->id, (enum ibv_qp_state)in->qp_state, &resp);
	return err ? err : cm_file_write(cmd->file, in->response, &resp, sizeof(resp));
}
