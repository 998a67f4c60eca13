/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events, which programs fetch through their files. */
#ifndef SOFTHCA_CM_EVENT_H
#define SOFTHCA_CM_EVENT_H

#include "cm.h"

/* The numbers of <rdma/rdma_cma.h>, which belongs to librdmacm. */
enum cm_event_kind {
	CM_EVENT_ADDR_RESOLVED,
	CM_EVENT_ADDR_ERROR,
	CM_EVENT_ROUTE_RESOLVED,
	CM_EVENT_ROUTE_ERROR,
	CM_EVENT_CONNECT_REQUEST,
	CM_EVENT_CONNECT_RESPONSE,
	CM_EVENT_CONNECT_ERROR,
	CM_EVENT_UNREACHABLE,
	CM_EVENT_REJECTED,
	CM_EVENT_ESTABLISHED,
	CM_EVENT_DISCONNECTED,
	CM_EVENT_DEVICE_REMOVAL,
	CM_EVENT_MULTICAST_JOIN,
	CM_EVENT_MULTICAST_ERROR,
	CM_EVENT_ADDR_CHANGE,
	CM_EVENT_TIMEWAIT_EXIT,
};

/* An event that waits to be fetched. */
struct cm_event {
	struct list link; /* file->events */
	struct cm_id *id; /* the id that gets the event */
	struct cm_id *child; /* of a connection request: the new id */
	struct cm_join *join; /* of an event about a group */
	struct rdma_ucm_event_resp resp;
};

/* An event to be filled in and raised. NULL: no memory, or an id that the program lacks. */
struct cm_event *cm_event_new(struct cm_id *id, enum cm_event_kind kind, int status);
void cm_event_raise(struct cm_event *event);

/* Raises an event in which nothing else is to be filled in. */
void cm_event_plain(struct cm_id *id, enum cm_event_kind kind, int status);

/* Removes an event, which the program has fetched or never will. */
void cm_event_withdraw(struct cm_event *event);

/* The oldest event of the id that waits, or NULL; with @join of those that tell of it. */
struct cm_event *cm_event_of(const struct cm_id *id, const struct cm_join *join);

/* The event waits in another file now. The caller wakes the readers of both files. */
void cm_event_move(struct cm_event *event, struct cm_file *file);

/* ---- files, and what they give their programs (file.c) ---- */

/* The file behind a descriptor that a client attached, or NULL when it is something else. */
struct cm_file *cm_file_behind(const struct hca_machine *machine, int fd);

/* Writes an answer to the client's memory. 0 or -EFAULT. */
int cm_file_write(const struct cm_file *file, uint64_t to, const void *from, size_t length);

/* Makes the program's descriptor readable, as long as events wait. */
void cm_file_ring(struct cm_file *file);

#endif
