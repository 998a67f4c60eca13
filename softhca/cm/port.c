/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Port spaces of the connection manager. */
#include "cm.h"

#include <softhca/base/refuse.h>

#include <errno.h>
#include <string.h>

/* What the kernel gives out by itself (ip_local_port_range). */
#define FIRST_FREE 32768
#define LAST_FREE  60999
#define MAX_BACKLOG 1024u

/* Two ids that are bound to everything have nothing in common when they are on different hosts. */
static bool apart(const struct cm_id *a, const struct cm_id *b)
{
	int host_a = a->device ? a->device->index : a->file->host;
	int host_b = b->device ? b->device->index : b->file->host;

	return host_a >= 0 && host_b >= 0 && host_a != host_b;
}

/*
 * Kernel's cma_check_port(): a wildcard is "not available" beside others, the same address is "in
 * use".
 */
static int conflict(const struct cm_id *id, const struct cm_id *other, bool reuse)
{
	if (other == id || other->service != id->service || apart(id, other) ||
	    (reuse && other->reuse))
		return 0;
	if (id->family_only && other->family_only && id->src.family != other->src.family)
		return 0;
	if (!id->device || !other->device)
		return refuse(-EADDRNOTAVAIL, "port that another id has, on some device");
	return id->port == other->port ? refuse(-EADDRINUSE, "port that another id has") : 0;
}

static int check_port(const struct cm_id *id, bool reuse)
{
	list_for_each(struct cm_id, other, &id->file->machine->cm.ids, known) {
		int err = conflict(id, other, reuse);

		if (err)
			return err;
	}
	return 0;
}

static int take_free_port(struct cm_id *id)
{
	struct hca_cm *cm = &id->file->machine->cm;
	const uint64_t space = id->service;

	for (int tries = FIRST_FREE; tries <= LAST_FREE; tries++) {
		cm->port++;
		if (cm->port < FIRST_FREE || cm->port > LAST_FREE)
			cm->port = FIRST_FREE;
		id->service = space | cm->port;
		if (!check_port(id, false)) {
			cm_addr_set_port(&id->src, cm->port);
			return 0;
		}
	}
	return refuse(-EADDRNOTAVAIL, "no free port");
}

static int take_port(struct cm_id *id)
{
	id->service = cm_addr_service(id, &id->src);
	if (!id->service)
		return refuse(-EPROTONOSUPPORT, "port space of the address");
	id->service = (id->service & ~0xffffull) | cm_addr_port(&id->src);
	return id->service & 0xffff ? check_port(id, id->reuse) : take_free_port(id);
}

int cm_bind(struct cm_id *id, const union cm_address *address)
{
	int err;

	if (id->state != CM_IDLE)
		return refuse(-EINVAL, "id that is bound already");
	if (!cm_addr_any(address) && (!cm_addr_find(id->file, address, &id->device, &id->port) ||
				      !cm_addr_local(id->file, id->device))) {
		id->device = NULL;
		return refuse(-EADDRNOTAVAIL, "address that is nobody's here");
	}
	memcpy(&id->src, address, cm_addr_size(address));
	err = take_port(id);
	if (err) {
		id->device = NULL;
		id->service = 0;
		memset(&id->src, 0, sizeof(id->src));
		return err;
	}
	id->state = CM_BOUND;
	return 0;
}

int cm_listen(struct cm_id *id, uint32_t backlog)
{
	const union cm_address any = cm_addr_none(AF_INET);
	int err = 0;

	if (id->state != CM_BOUND)
		err = cm_bind(id, &any);
	if (!err && id->reuse)
		err = check_port(id, false);
	if (err)
		return err;
	id->reuse = false;
	id->backlog = backlog && backlog < MAX_BACKLOG ? backlog : MAX_BACKLOG;
	id->state = CM_LISTEN;
	return 0;
}

/* A listener of this very address comes before one of all. */
struct cm_id *cm_listener(struct hca_machine *machine, uint64_t service,
			  const struct hca_device *device, uint8_t port)
{
	struct cm_id *general = NULL;

	list_for_each(struct cm_id, id, &machine->cm.ids, known) {
		if (id->state != CM_LISTEN || id->service != service)
			continue;
		if (id->device == device && id->port == port)
			return id;
		if (!id->device && cm_addr_local(id->file, device))
			general = id;
	}
	return general;
}
