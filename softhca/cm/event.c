// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Events of the connection manager: raised for an id, fetched through its file. */
#include "event.h"
#include "file.h"
#include "id.h"

#include <errno.h>
#include <stdlib.h>

struct cm_event *cm_event_new(struct cm_id *id, enum cm_event_kind kind, int status)
{
	struct cm_event *event;

	/* An id that was made by a connection request belongs to nobody before it is accepted. */
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

	event->resp.uid = event->id->uid;
	event->resp.id = event->child ? event->child->number : event->id->number;
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

static void take_off(struct cm_file *file, struct cm_event *event)
{
	list_del(&event->link);
	file->waiting--;
}

/* There is room for another request. */
static void request_done(struct cm_event *event)
{
	if (!event->child)
		return;
	event->child->request = NULL;
	event->id->backlog++;
}

int cm_event_fetch(struct cm_file *file, uint64_t response, size_t room)
{
	struct cm_event *event;

	/* ECE came later, and 32 bit programs do not know the padding before it. */
	if (room < offsetof(struct rdma_ucm_event_resp, reserved))
		return -ENOSPC;
	if (list_empty(&file->events))
		return -EAGAIN;
	event = container_of(file->events.next, struct cm_event, link);
	if (cm_file_write(file, response, &event->resp, room < sizeof(event->resp) ? room : sizeof(event->resp)))
		return -EFAULT;
	event->id->reported++;
	request_done(event);
	take_off(file, event);
	cm_file_ring(file);
	free(event);
	return 0;
}

void cm_event_drop(const struct cm_id *id)
{
	struct cm_file *file = id->file;

	list_for_each_safe(node, after, &file->events) {
		struct cm_event *event = container_of(node, struct cm_event, link);

		if (event->id != id)
			continue;
		take_off(file, event);
		request_done(event);
		/* Nobody knows of this id. It has no events, so that @after stays where it is. */
		if (event->child)
			cm_id_destroy(event->child);
		free(event);
	}
	cm_file_ring(file);
}

void cm_event_withdraw(struct cm_event *event)
{
	struct cm_file *file = event->id->file;

	take_off(file, event);
	request_done(event);
	cm_file_ring(file);
	free(event);
}

void cm_event_migrate(const struct cm_id *id, struct cm_file *file)
{
	struct cm_file *old = id->file;

	list_for_each_safe(node, after, &old->events) {
		struct cm_event *event = container_of(node, struct cm_event, link);

		if (event->id != id)
			continue;
		take_off(old, event);
		list_add(&file->events, &event->link);
		file->waiting++;
		if (event->child)
			cm_id_migrate(event->child, file);
	}
	cm_file_ring(old);
	cm_file_ring(file);
}
