/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Multicast groups of the fabric, as its subnet manager has them, and the ids that have joined
 * them.
 */
#ifndef SOFTHCA_CM_MCAST_H
#define SOFTHCA_CM_MCAST_H

#include "cm.h"

/*
 * @id joins the group that @address names; an event tells it of the group's GID and LID. 0 with the
 * join's number; -EINVAL when the id has no device, is past resolving its address or is no
 * datagram's; -ENOMEM.
 */
int cm_join(struct cm_id *id, const union cm_address *address, uint64_t uid, uint32_t *number);

/*
 * Leaves it; nobody hears of it any more. 0 with the number of events that the program has fetched;
 * -ENOENT, -EINVAL.
 */
int cm_leave(const struct cm_file *file, uint32_t number, uint32_t *reported);

/* The id goes. */
void cm_leave_all(struct cm_id *id);

#endif
