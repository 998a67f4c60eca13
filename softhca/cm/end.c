/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* How ids and files of the connection manager end, with everything that only they refer to. */
#include "end.h"
#include "conn.h"
#include "event.h"
#include "file.h"
#include "mcast.h"

#include <stdlib.h>
#include <unistd.h>

/*
 * Drops events that nobody will fetch. The id that a connection request made goes with it, for no
 * program knows it.
 */
static void drop_events(const struct cm_id *id)
{
	struct cm_event *event;

	while ((event = cm_event_of(id))) {
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
	list_for_each_safe(node, after, &id->file->events) {
		struct cm_event *event = container_of(node, struct cm_event, link);

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

void cm_file_destroy(struct cm_file *file)
{
	/* One takes others along: connection requests that nobody has fetched. */
	while (!list_empty(&file->ids))
		cm_id_destroy(container_of(file->ids.next, struct cm_id, member));
	loop_forget(file->sock);
	close(file->sock);
	loop_forget(file->pidfd);
	close(file->pidfd);
	close(file->bell);
	close(file->ear);
	list_del(&file->link);
	free(file);
}
