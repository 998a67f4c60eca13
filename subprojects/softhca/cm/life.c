/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The life of the connection manager, and of ids: made, moved to another file, ended. */
#include "id.h"

#include <base/refuse.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int cm_init(struct hca_machine *machine)
{
	struct hca_cm *cm = machine->cm = calloc(1, sizeof(*cm));

	if (!cm)
		return -ENOMEM;
	list_init(&cm->files);
	list_init(&cm->ids);
	/* No id has the number 0, which messages have for an id that is not known. */
	if (numtab_init(&cm->numbers, 1, CM_NUMBERS, 1, CM_NUMBERS - 1))
		return -ENOMEM;
	return cm_groups_init(cm);
}

/* ---- the end of ids and files ---- */

static void id_destroy(struct cm_id *id);

/* Drops the id's events, and the ids of connection requests that no program knows. */
static void drop_events(const struct cm_id *id)
{
	struct cm_event *event;

	while ((event = cm_event_of(id, NULL))) {
		struct cm_id *child = event->child;

		cm_event_withdraw(event);
		if (child)
			id_destroy(child);
	}
}

/* Tells the peer, and ends all that belongs to the id: unfetched connection requests, too. */
static void id_destroy(struct cm_id *id)
{
	struct hca_machine *machine = id->file->machine;

	if (id->request)
		cm_event_withdraw(id->request);
	cm_leave_all(id);
	cm_abandon(id);
	timer_stop(&id->timer);
	numtab_remove(&machine->cm->numbers, id->number);
	list_del(&id->member);
	list_del(&id->known);
	drop_events(id);
	free(id);
}

void cm_file_destroy(struct cm_file *file)
{
	/* A listener ends the ids of its unfetched connection requests, too. */
	while (!list_empty(&file->ids))
		id_destroy(container_of(file->ids.next, struct cm_id, member));
	client_close(&file->client);
	close(file->wake_fd);
	close(file->wake_peer_fd);
	list_del(&file->link);
	free(file);
}

/* ---- commands ---- */

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
		id_destroy(id);
	return err;
}

int cm_cmd_destroy_id(struct cm_cmd *cmd)
{
	const struct rdma_ucm_destroy_id *in = cmd->in;
	struct rdma_ucm_destroy_id_resp resp = { .events_reported = cmd->id->reported };

	id_destroy(cmd->id);
	return cm_file_write(cmd->file, in->response, &resp, sizeof(resp));
}

/* ---- ids that move to another file ---- */

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

	migrate_events(id, file);
	list_del(&id->member);
	list_add(&file->ids, &id->member);
	id->file = file;
	cm_file_ring(old);
	cm_file_ring(file);
}

/* Written to the new file, and names the old one. */
int cm_cmd_migrate_id(struct cm_cmd *cmd)
{
	const struct rdma_ucm_migrate_id *in = cmd->in;
	struct rdma_ucm_migrate_resp resp;
	struct cm_file *old;
	struct cm_id *id;
	int err;

	if (cmd->fd < 0)
		return refuse(-ENOENT, "no descriptor of the other channel");
	old = cm_file_behind(cmd->file->machine, cmd->fd);
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
