/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of the connection manager: their birth, their numbers and their patience. */
#include "cm.h"

#include <softhca/base/refuse.h>

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

struct cm_id *cm_id_new(struct cm_file *file, uint16_t ps, uint8_t qp_type, int *err)
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
	struct cm_id *child = cm_id_new(listener->file, listener->ps, qp_type, &err);

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

int cm_id_find_bound(const struct cm_file *file, uint32_t number, struct cm_id **id)
{
	int err = cm_id_find(file, number, id);

	if (err)
		return err;
	return (*id)->device ? 0 : refuse(-EINVAL, "id without a device");
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

/*
 * Drops events that nobody will fetch. The id that a connection request made goes with it, for no
 * program knows it.
 */
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
	timer_stop(&machine->timers, &id->timer);
	numtab_remove(&machine->cm.numbers, id->number);
	list_del(&id->member);
	list_del(&id->known);
	drop_events(id);
	free(id);
}

static void migrate_events(const struct cm_id *id, struct cm_file *file)
{
	list_for_each_safe(struct cm_event, event, &id->file->events, link) {
		if (event->id != id)
			continue;
		cm_event_move(event, file);
		if (event->child)
			cm_id_migrate(event->child, file);
	}
}

void cm_id_migrate(struct cm_id *id, struct cm_file *file)
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
