/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of the connection manager: their birth, their numbers, their patience and their options. */
#include "cm.h"

#include <base/refuse.h>

#include <errno.h>
#include <stdlib.h>

/* librdmacm keeps its own table of the numbers, of this size. */
#define NUMBERS (1u << 16)

/* Of multicast groups; the first is that of all IP hosts. */
#define FIRST_GROUP 0xc001u
#define END_GROUPS  0xffffu

#define PSN_STEP 0x1b3 /* so that numbers of neighbouring connections do not look alike */

int cm_init(struct hca_cm *cm)
{
	if (numtab_init(&cm->numbers, 0, NUMBERS, 0, NUMBERS) ||
	    numtab_init(&cm->joins, 0, NUMBERS, 0, NUMBERS))
		return -ENOMEM;
	return numtab_init(&cm->group_lids, FIRST_GROUP, END_GROUPS, FIRST_GROUP,
			   END_GROUPS - FIRST_GROUP);
}

void cm_free(struct hca_cm *cm)
{
	numtab_free(&cm->numbers);
	numtab_free(&cm->joins);
	numtab_free(&cm->group_lids);
}

static struct cm_id *new_id(struct cm_file *file, uint16_t ps, uint8_t qp_type, int *err)
{
	struct hca_cm *cm = &file->machine->cm;
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

/* The listener's id for the request: the same connection as seen from there. NULL: too many. */
static struct cm_id *new_child(struct cm_id *id, const struct cm_id *listener, uint8_t qp_type)
{
	int err;
	struct cm_id *child = new_id(listener->file, listener->ps, qp_type, &err);

	if (!child)
		return NULL;
	child->state = CM_CONNECT;
	child->device = id->dst_device;
	child->port = id->dst_port;
	child->dst_device = id->device;
	child->dst_port = id->port;
	child->src = id->dst;
	child->dst = id->src;
	child->peer = id;
	return child;
}

struct cm_event *cm_id_request(struct cm_id *id, uint8_t qp_type, bool *heard)
{
	struct cm_id *listener = cm_listener(id->file->machine, cm_addr_service(id, &id->dst),
					     id->dst_device, id->dst_port);
	struct cm_event *event = NULL;

	*heard = listener;
	if (listener && listener->backlog && listener->qp_type == qp_type)
		event = cm_event_new(listener, CM_EVENT_CONNECT_REQUEST, 0);
	if (!event)
		return NULL;
	event->child = new_child(id, listener, qp_type);
	if (!event->child) {
		free(event);
		return NULL;
	}
	id->peer = event->child;
	listener->backlog--;
	return event;
}

int cm_id_find(const struct cm_file *file, uint32_t number, struct cm_id **id)
{
	*id = numtab_find(&file->machine->cm.numbers, number);
	/* An id that the program has not been told of is not its to use. */
	if (!*id || (*id)->request)
		return refuse(-ENOENT, "number of the id");
	return (*id)->file == file ? 0 : refuse(-EINVAL, "id of another channel");
}

void cm_id_part(struct cm_id *id)
{
	if (!id->peer)
		return;
	id->peer->peer = NULL;
	id->peer = NULL;
}

bool cm_id_is_wired(const struct cm_id *id)
{
	return id->device->port[id->port].active && id->dst_device->port[id->dst_port].active;
}

void cm_wait(struct cm_id *id, unsigned int milliseconds, void (*expired)(struct timer *timer))
{
	id->timer.expired = expired;
	timer_start(&id->file->machine->timers, &id->timer,
		    hca_now() + milliseconds * (uint64_t)1000000);
}

/* ---- their end, and their move to another file ---- */

/* Drops the id's events, and the ids of connection requests that no program knows. */
static void drop_events(const struct cm_id *id)
{
	struct cm_event *event;

	while ((event = cm_event_of(id, NULL))) {
		struct cm_id *child = event->child;

		cm_event_withdraw(event);
		if (child)
			cm_id_destroy(child);
	}
}

void cm_id_destroy(struct cm_id *id)
{
	struct hca_machine *machine = id->file->machine;

	if (id->request)
		cm_event_withdraw(id->request);
	cm_leave_all(id);
	cm_abandon(id);
	timer_stop(&id->timer);
	numtab_remove(&machine->cm.numbers, id->number);
	list_del(&id->member);
	list_del(&id->known);
	drop_events(id);
	free(id);
}

static void migrate(struct cm_id *id, struct cm_file *file);

static void migrate_events(const struct cm_id *id, struct cm_file *file)
{
	list_for_each_safe(struct cm_event, event, &id->file->events, link) {
		if (event->id != id)
			continue;
		cm_event_move(event, file);
		if (event->child)
			migrate(event->child, file);
	}
}

static void migrate(struct cm_id *id, struct cm_file *file)
{
	struct cm_file *old = id->file;

	if (old == file)
		return;
	migrate_events(id, file);
	list_del(&id->member);
	list_add(&file->ids, &id->member);
	id->file = file;
	cm_file_ring(old);
	cm_file_ring(file);
}

/* ---- commands ---- */

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
	id = new_id(cmd->file, in->ps, qp_type, &err);
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

/* A path that the program has found. The wire has only one, so nothing else is checked. */
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
		return refuse(-EINVAL, "descriptor that is not a channel");
	err = cm_id_find(old, in->id, &id);
	if (err)
		return err;
	if (old != cmd->file)
		migrate(id, cmd->file);
	resp.events_reported = id->reported;
	return cm_file_write(cmd->file, in->response, &resp, sizeof(resp));
}
