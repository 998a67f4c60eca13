/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events of the connection manager. */
#ifndef SOFTHCA_CM_EVENT_H
#define SOFTHCA_CM_EVENT_H

#include "cm.h"

/* What happened, as <rdma/rdma_cma.h> counts it; that belongs to librdmacm. */
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

/* One that waits to be fetched. */
struct cm_event {
	struct list link; /* file->events */
	struct cm_id *id;    /* whose it is */
	struct cm_id *child; /* that a connection request made */
	struct cm_join *join; /* that it tells of */
	struct rdma_ucm_event_resp resp;
};

/*
 * An event to be filled in and raised. NULL when memory is short, or the program would not know
 * whose it is.
 */
struct cm_event *cm_event_new(struct cm_id *id, enum cm_event_kind kind, int status);
void cm_event_raise(struct cm_event *event);

/* One with nothing to fill in. */
void cm_event_plain(struct cm_id *id, enum cm_event_kind kind, int status);

/* Writes the oldest event to @response. -EAGAIN when there is none. */
int cm_event_fetch(struct cm_file *file, uint64_t response, size_t room);

/* Nobody will fetch it. */
void cm_event_withdraw(struct cm_event *event);

/* The oldest event of the id that waits, or NULL. */
struct cm_event *cm_event_of(const struct cm_id *id);

/* The same of a multicast group that was joined. */
struct cm_event *cm_event_of_join(const struct cm_join *join);

/* The event waits in another file now. The caller wakes the readers of both files. */
void cm_event_move(struct cm_event *event, struct cm_file *file);

#endif
