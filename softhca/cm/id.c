// SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
/* Ids of the connection manager: their birth, their numbers and their end. */
#include "id.h"
#include "conn.h"
#include "event.h"

#include <errno.h>
#include <stdlib.h>

/* librdmacm keeps its own table of the numbers, of this size. */
#define NUMBERS (1u << 16)

#define PSN_STEP 0x1b3 /* so that numbers of neighbouring connections do not look alike */

int cm_init(struct hca_cm *cm)
{
	list_init(&cm->files);
	list_init(&cm->ids);
	return numtab_init(&cm->numbers, 0, NUMBERS, 0, NUMBERS);
}

void cm_free(struct hca_cm *cm)
{
	numtab_free(&cm->numbers);
}

struct cm_id *cm_id_new(struct cm_file *file, uint16_t ps, uint8_t qp_type, int *error)
{
	struct hca_cm *cm = &file->machine->cm;
	struct cm_id *id = calloc(1, sizeof(*id));

	*error = -ENOMEM;
	if (!id)
		return NULL;
	*error = numtab_add(&cm->numbers, id, &id->number);
	if (*error) {
		free(id);
		return NULL;
	}
	id->file = file;
	id->ps = ps;
	id->qp_type = qp_type;
	id->ack_timeout = -1;
	id->timer.expired = cm_expired;
	id->psn = cm->psn = (cm->psn + PSN_STEP) & 0xffffff;
	list_add(&file->ids, &id->member);
	list_add(&cm->ids, &id->known);
	return id;
}

struct cm_id *cm_id_new_child(struct cm_id *id, const struct cm_id *listener, uint8_t qp_type)
{
	int error;
	struct cm_id *child = cm_id_new(listener->file, listener->ps, qp_type, &error);

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

void cm_id_destroy(struct cm_id *id)
{
	struct hca_machine *machine = id->file->machine;

	if (id->request)
		cm_event_withdraw(id->request);
	cm_abandon(id);
	timer_stop(&machine->timers, &id->timer);
	numtab_remove(&machine->cm.numbers, id->number);
	list_del(&id->member);
	list_del(&id->known);
	cm_event_drop(id);
	free(id);
}

int cm_id_find(const struct cm_file *file, uint32_t number, struct cm_id **id)
{
	*id = numtab_find(&file->machine->cm.numbers, number);
	/* An id that the program has not been told of is not its to use. */
	if (!*id || (*id)->request)
		return -ENOENT;
	return (*id)->file == file ? 0 : -EINVAL;
}

int cm_id_find_bound(const struct cm_file *file, uint32_t number, struct cm_id **id)
{
	int error = cm_id_find(file, number, id);

	if (error)
		return error;
	return (*id)->device ? 0 : -EINVAL;
}

void cm_id_migrate(struct cm_id *id, struct cm_file *file)
{
	cm_event_migrate(id, file);
	list_del(&id->member);
	list_add(&file->ids, &id->member);
	id->file = file;
}
