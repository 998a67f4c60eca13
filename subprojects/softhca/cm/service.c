/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The services of ids, which are port space and port: binding, listening, resolving addresses. */
#include "id.h"

#include <base/refuse.h>

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The ports that the kernel gives out by itself (ip_local_port_range). */
#define FIRST_FREE 32768
#define LAST_FREE 60999
#define MAX_BACKLOG 1024u

/* Two ids that are bound to everything have nothing in common when they are on different hosts. */
static bool apart(const struct cm_id *a, const struct cm_id *b)
{
	int host_a = a->device ? a->device->index : a->file->host;
	int host_b = b->device ? b->device->index : b->file->host;

	return host_a >= 0 && host_b >= 0 && host_a != host_b;
}

/* As cma_check_port(): a wildcard is "not available" beside others, the same address "in use". */
static int conflict(const struct cm_id *id, const struct cm_id *other, bool reuse)
{
	if (other == id || other->service != id->service || apart(id, other) ||
	    (reuse && other->reuse))
		return 0;
	if (id->family_only && other->family_only && id->src.family != other->src.family)
		return 0;
	if (!id->device || !other->device)
		return refuse(-EADDRNOTAVAIL, "port that another id has, on some device");
	/* A port of a device has an address of each family. */
	if (id->port != other->port || id->src.family != other->src.family)
		return 0;
	return refuse(-EADDRINUSE, "port that another id has");
}

static int check_service(const struct cm_id *id, bool reuse)
{
	list_for_each(struct cm_id, other, &id->file->machine->cm->ids, known) {
		int err = conflict(id, other, reuse);

		if (err)
			return err;
	}
	return 0;
}

static int take_free_service(struct cm_id *id)
{
	struct hca_cm *cm = id->file->machine->cm;
	const uint64_t space = id->service;

	for (int tries = FIRST_FREE; tries <= LAST_FREE; tries++) {
		cm->last_free++;
		if (cm->last_free < FIRST_FREE || cm->last_free > LAST_FREE)
			cm->last_free = FIRST_FREE;
		id->service = space | cm->last_free;
		if (!check_service(id, false)) {
			cm_addr_set_port(&id->src, cm->last_free);
			return 0;
		}
	}
	return refuse(-EADDRNOTAVAIL, "no free port");
}

static int take_service(struct cm_id *id)
{
	id->service = cm_addr_service(id, &id->src);
	if (!id->service)
		return refuse(-EPROTONOSUPPORT, "port space of the address");
	id->service = (id->service & ~0xffffull) | cm_addr_port(&id->src);
	return id->service & 0xffff ? check_service(id, id->reuse) : take_free_service(id);
}

/* Binds to an address of the host, or to all of them; and to a service, a free one for port 0. */
static int bind_id(struct cm_id *id, const union cm_address *address)
{
	int err;

	if (id->state != CM_IDLE)
		return refuse(-EINVAL, "id that is bound already");
	if (!cm_addr_any(address) && (!cm_addr_find(id->file, address, &id->device, &id->port) ||
				      !cm_addr_local(id->file, id->device))) {
		id->device = NULL;
		return refuse(-EADDRNOTAVAIL, "address that no port of this host has");
	}
	memcpy(&id->src, address, cm_addr_size(address));
	err = take_service(id);
	if (err) {
		id->device = NULL;
		id->service = 0;
		memset(&id->src, 0, sizeof(id->src));
		return err;
	}
	id->state = CM_BOUND;
	return 0;
}

/* A listener has its service alone, even if it allowed to share it (SO_REUSEADDR). */
int cm_cmd_listen(struct cm_cmd *cmd)
{
	const uint32_t backlog = ((const struct rdma_ucm_listen *)cmd->in)->backlog;
	const union cm_address any = cm_addr_none(AF_INET);
	struct cm_id *id = cmd->id;
	int err = 0;

	if (id->state != CM_BOUND)
		err = bind_id(id, &any);
	if (!err && id->reuse)
		err = check_service(id, false);
	if (err)
		return err;
	id->reuse = false;
	id->backlog = backlog && backlog < MAX_BACKLOG ? backlog : MAX_BACKLOG;
	id->state = CM_LISTEN;
	return 0;
}

/* As cma_match_private_data(). */
static bool hears_family(const struct cm_id *listener, uint16_t family)
{
	return listener->src.family == family || listener->src.family == CM_AF_IB ||
	       (!listener->device && !listener->family_only);
}

/* A listener of the destination's very address comes before a listener of all addresses. */
static struct cm_id *listener_for(const struct cm_id *from)
{
	const uint64_t service = cm_addr_service(from, &from->dst);
	struct cm_id *general = NULL;

	list_for_each(struct cm_id, id, &from->file->machine->cm->ids, known) {
		if (id->state != CM_LISTEN || id->service != service ||
		    !hears_family(id, from->dst.family))
			continue;
		if (id->device == from->dst_device && id->port == from->dst_port)
			return id;
		if (!id->device && cm_addr_local(id->file, from->dst_device))
			general = id;
	}
	return general;
}

/* ---- requests for listeners ---- */

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
	child->peer_number = id->number;
	return child;
}

struct cm_event *cm_id_request(struct cm_id *id, uint8_t qp_type, bool *heard)
{
	struct cm_id *listener = listener_for(id);
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
	id->peer_number = event->child->number;
	listener->backlog--;
	return event;
}

/* ---- bind ---- */

int cm_cmd_bind_ip(struct cm_cmd *cmd)
{
	const struct rdma_ucm_bind_ip *in = cmd->in;
	union cm_address address;

	return cm_addr_take_ip(&address, &in->addr) ? bind_id(cmd->id, &address)
						    : refuse(-EINVAL, "address");
}

int cm_cmd_bind(struct cm_cmd *cmd)
{
	const struct rdma_ucm_bind *in = cmd->in;
	union cm_address address;

	if (in->reserved || !cm_addr_take_storage(&address, &in->addr, in->addr_size))
		return refuse(-EINVAL, "address");
	return bind_id(cmd->id, &address);
}

/* ---- resolve ---- */

static int bind_source(struct cm_id *id, const union cm_address *src, const union cm_address *dst)
{
	union cm_address any = cm_addr_none(dst->family);

	if (id->state == CM_BOUND)
		return 0;
	/* A service id says at least which port space it is of. */
	if (dst->family == CM_AF_IB) {
		any.ib.sid = dst->ib.sid;
		any.ib.sid_mask = htobe64(~0xffffull);
	}
	return bind_id(id, src ? src : &any);
}

/*
 * Without a source it is the host's own device; a program on all hosts talks to a destination on
 * this machine from there, and to all others from the first device.
 */
static void choose_source(struct cm_id *id)
{
	const int host = id->file->host;
	struct hca_device *to = id->dst_device;

	if (id->device)
		return;
	if (host < 0 && to && !device_is_far(to))
		id->device = to;
	else
		id->device = &id->file->machine->device[host < 0 ? 0 : host];
	id->port = to ? id->dst_port : 1;
	cm_addr_set(&id->src, id->device, id->port);
}

static bool find_destination(struct cm_id *id)
{
	union cm_address loopback = cm_addr_none(AF_INET);

	if (!cm_addr_any(&id->dst))
		return cm_addr_find(id->file, &id->dst, &id->dst_device, &id->dst_port);
	/* The wildcard as a destination means the id's own adapter. */
	loopback.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cm_addr_find(id->file, &loopback, &id->dst_device, &id->dst_port);
	if (id->device) {
		id->dst_device = id->device;
		id->dst_port = id->port;
	}
	cm_addr_set(&id->dst, id->dst_device, id->dst_port);
	return true;
}

static void resolve_timed_out(struct timer *timer)
{
	struct cm_id *id = container_of(timer, struct cm_id, timer);

	id->state = CM_BOUND;
	cm_event_plain(id, CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
}

static int resolve(struct cm_id *id, const union cm_address *src, const union cm_address *dst,
		   uint32_t timeout)
{
	int err = bind_source(id, src, dst);

	if (err)
		return err;
	if (id->src.family != dst->family)
		return refuse(-EINVAL, "families of both ends");
	id->dst = *dst;
	id->dst_device = NULL;
	if (!cm_addr_multicast(dst) && !find_destination(id)) {
		id->dst_device = NULL;
		id->state = CM_ADDR_QUERY;
		cm_wait(id, timeout, resolve_timed_out);
		return 0;
	}
	choose_source(id);
	id->state = CM_ADDR_RESOLVED;
	cm_event_plain(id, CM_EVENT_ADDR_RESOLVED, 0);
	return 0;
}

int cm_cmd_resolve_ip(struct cm_cmd *cmd)
{
	const struct rdma_ucm_resolve_ip *in = cmd->in;
	union cm_address src, dst;
	bool has_src = in->src_addr.sin6_family;

	if ((has_src && !cm_addr_take_ip(&src, &in->src_addr)) ||
	    !cm_addr_take_ip(&dst, &in->dst_addr))
		return refuse(-EINVAL, "address");
	return resolve(cmd->id, has_src ? &src : NULL, &dst, in->timeout_ms);
}

int cm_cmd_resolve_addr(struct cm_cmd *cmd)
{
	const struct rdma_ucm_resolve_addr *in = cmd->in;
	union cm_address src, dst;

	if (in->reserved ||
	    (in->src_size && !cm_addr_take_storage(&src, &in->src_addr, in->src_size)) ||
	    !cm_addr_take_storage(&dst, &in->dst_addr, in->dst_size))
		return refuse(-EINVAL, "address");
	return resolve(cmd->id, in->src_size ? &src : NULL, &dst, in->timeout_ms);
}

int cm_cmd_resolve_route(struct cm_cmd *cmd)
{
	struct cm_id *id = cmd->id;

	if (id->state != CM_ADDR_RESOLVED)
		return refuse(-EINVAL, "id whose address is not resolved");
	/* No path leads to a group. */
	if (!id->dst_device) {
		cm_event_plain(id, CM_EVENT_ROUTE_ERROR, -EINVAL);
		return 0;
	}
	id->state = CM_ROUTE_RESOLVED;
	cm_event_plain(id, CM_EVENT_ROUTE_RESOLVED, 0);
	return 0;
}
