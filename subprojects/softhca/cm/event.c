/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events of the connection manager, which programs fetch through its files. */
#include "event.h"
#include "id.h"

#include <base/refuse.h>

#include <errno.h>
#include <stdlib.h>

struct cm_event *cm_event_new(struct cm_id *id, enum cm_event_kind kind, int status)
{
	struct cm_event *event;

	/* The id of a connection request gets no events before the program has accepted it. */
	if (!id->uid)
		return NULL;
	event = calloc(1, sizeof(*event));
	if (!event)
		return NULL;
	event->id = id;
	event->resp.event = kind;
	event->resp.status = (uint32_t)status;
	return event;
}

void cm_event_raise(struct cm_event *event)
{
	struct cm_file *file = event->id->file;

	event->resp.uid = event->join ? event->join->uid : event->id->uid;
	event->resp.id = event->join	? event->join->number
			 : event->child ? event->child->number
					: event->id->number;
	if (event->child)
		event->child->request = event;
	list_add(&file->events, &event->link);
	file->waiting++;
	cm_file_ring(file);
}

void cm_event_plain(struct cm_id *id, enum cm_event_kind kind, int status)
{
	struct cm_event *event = cm_event_new(id, kind, status);

	if (event)
		cm_event_raise(event);
}

void cm_event_withdraw(struct cm_event *event)
{
	struct cm_file *file = event->id->file;

	list_del(&event->link);
	file->waiting--;
	/* There is room for another request. */
	if (event->child) {
		event->child->request = NULL;
		event->id->backlog++;
	}
	cm_file_ring(file);
	free(event);
}

int cm_cmd_get_event(struct cm_cmd *cmd)
{
	const uint64_t response = ((const struct rdma_ucm_get_event *)cmd->in)->response;
	const size_t room = cmd->out_size;
	struct cm_file *file = cmd->file;
	struct cm_event *event;

	/* ECE came later, and 32 bit programs do not know the padding before it. */
	if (room < offsetof(struct rdma_ucm_event_resp, reserved))
		return refuse(-ENOSPC, "room for the answer");
	if (list_empty(&file->events))
		return -EAGAIN;
	event = container_of(file->events.next, struct cm_event, link);
	if (cm_file_write(file, response, &event->resp,
			  room < sizeof(event->resp) ? room : sizeof(event->resp)))
		return -EFAULT;
	event->id->reported++;
	if (event->join)
		event->join->reported++;
	cm_event_withdraw(event);
	return 0;
}

struct cm_event *cm_event_of(const struct cm_id *id, const struct cm_join *join)
{
	list_for_each(struct cm_event, event, &id->file->events, link) {
		if (event->id == id && (!join || event->join == join))
			return event;
	}
	return NULL;
}

void cm_event_move(struct cm_event *event, struct cm_file *file)
{
	list_del(&event->link);
	event->id->file->waiting--;
	list_add(&file->events, &event->link);
	file->waiting++;
}
