/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of the connection manager: their numbers, their timers and their options. */
#include "id.h"

#include <base/refuse.h>

#include <errno.h>
#include <stdlib.h>

#define MAX_PATHS 64 /* in one offer of a program */

#define PSN_STEP 0x1b3 /* so that numbers of neighbouring connections do not look alike */

struct cm_id *cm_id_new(struct cm_file *file, uint16_t ps, uint8_t qp_type, int *err)
{
	struct hca_cm *cm = file->machine->cm;
	struct cm_id *id = calloc(1, sizeof(*id));

	*err = -ENOMEM;
	if (!id)
		return NULL;
	*err = numtab_add(&cm->numbers, id, &id->number);
	if (*err) {
		free(id);
		return NULL;
	}
	id->file = file;
	id->ps = ps;
	id->qp_type = qp_type;
	id->ack_timeout = -1;
	id->psn = cm->psn = (cm->psn + PSN_STEP) & 0xffffff;
	list_init(&id->joins);
	list_add(&file->ids, &id->member);
	list_add(&cm->ids, &id->known);
	return id;
}

int cm_id_find(const struct cm_file *file, uint32_t number, struct cm_id **id)
{
	*id = numtab_find(&file->machine->cm->numbers, number);
	/* An id that the program has not been told of is not its to use. */
	if (!*id || (*id)->request)
		return refuse(-ENOENT, "number of the id");
	return (*id)->file == file ? 0 : refuse(-EINVAL, "id of another channel");
}

void cm_id_part(struct cm_id *id)
{
	id->far = false;
	timer_stop(&id->again);
	if (!id->peer)
		return;
	id->peer->peer = NULL;
	id->peer = NULL;
}

bool cm_id_is_wired(const struct cm_id *id)
{
	return !id->far && id->device->port[id->port].active &&
	       id->dst_device->port[id->dst_port].active;
}

struct cm_id *cm_id_hearer(const struct cm_id *id)
{
	return id->peer && cm_id_is_wired(id) ? id->peer : NULL;
}

void cm_wait(struct cm_id *id, unsigned int milliseconds, void (*expired)(struct timer *timer))
{
	id->timer.expired = expired;
	timer_start(&id->file->machine->timers, &id->timer,
		    hca_now() + milliseconds * (uint64_t)1000000);
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

static int set_id_option(struct cm_cmd *cmd)
{
	const struct rdma_ucm_set_option *in = cmd->in;
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
		return set_reuse(cmd->id, value);
	case RDMA_OPTION_ID_AFONLY:
		return set_family_only(cmd->id, value);
	case RDMA_OPTION_ID_ACK_TIMEOUT:
		return set_ack_timeout(cmd->id, (uint8_t)value);
	default:
		return 0; /* the type of service has no effect */
	}
}

/* A path that the program has found. The wire has only one, so nothing else is checked. */
static int set_path(struct cm_cmd *cmd)
{
	const uint32_t wanted = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	const struct rdma_ucm_set_option *in = cmd->in;
	struct cm_id *id = cmd->id;
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
		/* No path leads to a group. */
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
	switch (((const struct rdma_ucm_set_option *)cmd->in)->level) {
	case RDMA_OPTION_ID:
		return set_id_option(cmd);
	case RDMA_OPTION_IB:
		return set_path(cmd);
	default:
		return refuse(-ENOSYS, "level of the option");
	}
}
