/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Port spaces of the connection manager: who is bound where, and who listens. */
#ifndef SOFTHCA_CM_PORT_H
#define SOFTHCA_CM_PORT_H

#include "cm.h"

/*
 * Binds an id to an address of its host (with its device), to all of them (without), and to the
 * address' port or, if that is 0, a free one. -EINVAL unless the id is idle; -EADDRNOTAVAIL for an
 * address that the host has not, or a port that others have through all addresses; -EADDRINUSE;
 * -EPROTONOSUPPORT for a service id of another port space.
 */
int cm_bind(struct cm_id *id, const union cm_address *address);

/*
 * -EINVAL unless the id is bound or idle; then nobody else may have its port, be it allowed to
 * share it or not.
 */
int cm_listen(struct cm_id *id, uint32_t backlog);

/* Who listens to @service on this port of @device; NULL if nobody does. */
struct cm_id *cm_listener(struct hca_machine *machine, uint64_t service,
			  const struct hca_device *device, uint8_t port);

#endif
