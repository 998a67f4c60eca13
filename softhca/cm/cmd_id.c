/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about ids as such: create, destroy, options, events, migration. */
#include "cm.h"

#include <softhca/base/refuse.h>

#include <errno.h>

#define MAX_PATHS 64 /* that a program may offer */

static int qp_type_of(const struct rdma_ucm_create_id *in, uint8_t *qp_type)
{
	switch (in->ps) {
	case RDMA_PS_TCP:
		*qp_type = IBV_QPT_RC;
		return 0;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		*qp_type = IBV_QPT_UD;
		return 0;
	case RDMA_PS_IB:
		*qp_type = in->qp_type;
		return 0;
	default:
		return refuse(-EINVAL, "port space");
	}
}

int cm_cmd_create_id(struct cm_cmd *cmd)
{
	const struct rdma_ucm_create_id *in = cmd->in;
	struct rdma_ucm_create_id_resp resp;
	struct cm_id *id;
	uint8_t qp_type = 0;
	int err = qp_type_of(in, &qp_type);

	if (err)
		return err;
	id = cm_id_new(cmd->file, in->ps, qp_type, &err);
	if (!id)
		return err;
	id->uid = in->uid;
	resp.id = id->number;
	err = cm_file_write(cmd->file, in->response, &resp, sizeof(resp));
	if (err)
		cm_id_destroy(id);
	return err;
}

int cm_cmd_destroy_id(struct cm_cmd *cmd)
{
	const struct rdma_ucm_destroy_id *in = cmd->in;
	struct rdma_ucm_destroy_id_resp resp = { .events_reported = cmd->id->reported };

	cm_id_destroy(cmd->id);
	return cm_file_write(cmd->file, in->response, &resp, sizeof(resp));
}

int cm_cmd_get_event(struct cm_cmd *cmd)
{
	const struct rdma_ucm_get_event *in = cmd->in;

	return cm_event_fetch(cmd->file, in->response, cmd->out_size);
}

/* ---- options ---- */

static int set_reuse(struct cm_id *id, bool reuse)
{
	if (id->state != CM_IDLE && (!reuse || id->state == CM_LISTEN))
		return refuse(-EINVAL, "id that is bound already");
	id->reuse = reuse;
	return 0;
}

static int set_family_only(struct cm_id *id, bool only)
{
	if (id->state != CM_IDLE && id->state != CM_BOUND)
		return refuse(-EINVAL, "id that is beyond binding");
	id->family_only = only;
	return 0;
}

static int set_ack_timeout(struct cm_id *id, uint8_t timeout)
{
	if (id->qp_type != IBV_QPT_RC && id->qp_type != IBV_QPT_XRC_SEND)
		return refuse(-EINVAL, "id whose QPs wait for no acknowledgement");
	id->ack_timeout = timeout & 31;
	return 0;
}

static int set_id_option(struct cm_cmd *cmd, struct cm_id *id, const struct rdma_ucm_set_option *in)
{
	bool byte = in->optname == RDMA_OPTION_ID_TOS || in->optname == RDMA_OPTION_ID_ACK_TIMEOUT;
	size_t size = byte ? 1 : sizeof(int);
	int value = 0;

	if (in->optname > RDMA_OPTION_ID_ACK_TIMEOUT)
		return refuse(-ENOSYS, "option that is not known");
	if (in->optlen != size)
		return refuse(-EINVAL, "size of the option");
	if (client_read(&cmd->file->client, &value, in->optval, size))
		return refuse(-EFAULT, "option that cannot be read");
	switch (in->optname) {
	case RDMA_OPTION_ID_REUSEADDR:
		return set_reuse(id, value);
	case RDMA_OPTION_ID_AFONLY:
		return set_family_only(id, value);
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return set_ack_timeout(id, (uint8_t)value);
	default:
		return 0; /* there is no traffic class on this wire */
	}
}

/*
 * A path that somebody else has found. There is only one on this wire, so it is not looked at
 * further.
 */
static int set_path(struct cm_cmd *cmd, struct cm_id *id, const struct rdma_ucm_set_option *in)
{
	const uint32_t wanted = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	struct ib_path_rec_data path;

	if (in->optname != RDMA_OPTION_IB_PATH)
		return refuse(-ENOSYS, "option that is not known");
	if (!in->optlen || in->optlen % sizeof(path) || in->optlen > MAX_PATHS * sizeof(path))
		return refuse(-EINVAL, "size of the paths");
	for (uint32_t at = 0; at < in->optlen; at += (uint32_t)sizeof(path)) {
		if (client_read(&cmd->file->client, &path, in->optval + at, sizeof(path)))
			return refuse(-EFAULT, "path that cannot be read");
		if (path.flags != wanted)
			continue;
		/* To a group there is none. */
		if (id->state != CM_ADDR_RESOLVED || !id->dst_device)
			return refuse(-EINVAL, "id whose address is not resolved");
		id->state = CM_ROUTE_RESOLVED;
		cm_event_plain(id, CM_EVENT_ROUTE_RESOLVED, 0);
		return 0;
	}
	return refuse(-EINVAL, "no path of both directions");
}

int cm_cmd_set_option(struct cm_cmd *cmd)
{
	const struct rdma_ucm_set_option *in = cmd->in;

	switch (in->level) {
	case RDMA_OPTION_ID:
		return set_id_option(cmd, cmd->id, in);
	case RDMA_OPTION_IB:
		return set_path(cmd, cmd->id, in);
	default:
		return refuse(-ENOSYS, "level of the option");
	}
}

/* ---- migration: written to the new file, naming the old one ---- */

int cm_cmd_migrate_id(struct cm_cmd *cmd)
{
	const struct rdma_ucm_migrate_id *in = cmd->in;
	struct rdma_ucm_migrate_resp resp;
	struct cm_file *old;
	struct cm_id *id;
	int err;

	if (cmd->fd < 0)
		return refuse(-ENOENT, "no descriptor of the other channel");
	old = cm_file_find(cmd->file->machine, cmd->fd);
	if (!old)
		return refuse(-EINVAL, "descriptor that is no channel");
	err = cm_id_find(old, in->id, &id);
	if (err)
		return err;
	if (old != cmd->file)
		cm_id_migrate(id, cmd->file);
	resp.events_reported = id->reported;
	return cm_file_write(cmd->file, in->response, &resp, sizeof(resp));
}
