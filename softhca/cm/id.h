/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of the connection manager. */
#ifndef SOFTHCA_CM_ID_H
#define SOFTHCA_CM_ID_H

#include "cm.h"

/* NULL with *err = -ENOMEM when there are too many. */
struct cm_id *cm_id_new(struct cm_file *file, uint16_t ps, uint8_t qp_type, int *err);

/*
 * A connection request for the listener at the destination, with its child, an id of @qp_type: to
 * be filled in and raised. NULL: it is refused; *heard = whether there is a listener.
 */
struct cm_event *cm_id_request(struct cm_id *id, uint8_t qp_type, bool *heard);

/* -ENOENT when there is none of this number, -EINVAL when it is another file's. */
int cm_id_find(const struct cm_file *file, uint32_t number, struct cm_id **id);

/* The same, and -EINVAL when it has no device yet. */
int cm_id_find_bound(const struct cm_file *file, uint32_t number, struct cm_id **id);

/* Id and peer know nothing of each other any more. */
void cm_id_part(struct cm_id *id);

/* The ports on both sides of the connection are up. */
bool cm_id_is_wired(const struct cm_id *id);

/*
 * Waits at most so long for what is to come next; @expired is called with id->timer when it has not
 * come.
 */
void cm_wait(struct cm_id *id, unsigned int milliseconds, void (*expired)(struct timer *timer));

#endif
