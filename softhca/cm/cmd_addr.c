/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands about addresses: bind, resolve, query. */
#include "cm.h"

#include <softhca/base/refuse.h>

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

/* ---- bind ---- */

int cm_cmd_bind_ip(struct cm_cmd *cmd)
{
	const struct rdma_ucm_bind_ip *in = cmd->in;
	union cm_address address;

	return cm_addr_take_ip(&address, &in->addr) ? cm_bind(cmd->id, &address)
						    : refuse(-EINVAL, "address");
}

int cm_cmd_bind(struct cm_cmd *cmd)
{
	const struct rdma_ucm_bind *in = cmd->in;
	union cm_address address;

	if (in->reserved || !cm_addr_take_storage(&address, &in->addr, in->addr_size))
		return refuse(-EINVAL, "address");
	return cm_bind(cmd->id, &address);
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
	return cm_bind(id, src ? src : &any);
}

/*
 * Without a source it is the host's own device; a program on all hosts talks to the destination
 * from there, and to a group from the first device.
 */
static void choose_source(struct cm_id *id)
{
	int host = id->file->host;

	if (id->device)
		return;
	if (host < 0 && id->dst_device)
		id->device = id->dst_device;
	else
		id->device = &id->file->machine->device[host < 0 ? 0 : host];
	id->port = id->dst_device ? id->dst_port : 1;
	cm_addr_set(&id->src, id->device, id->port);
}

static bool find_destination(struct cm_id *id)
{
	union cm_address loopback = cm_addr_none(AF_INET);

	if (!cm_addr_any(&id->dst))
		return cm_addr_find(id->file, &id->dst, &id->dst_device, &id->dst_port);
	/* All of one's own addresses: oneself. */
	loopback.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cm_addr_find(id->file, &loopback, &id->dst_device, &id->dst_port);
	if (id->device) {
		id->dst_device = id->device;
		id->dst_port = id->port;
	}
	cm_addr_set(&id->dst, id->dst_device, id->dst_port);
	return true;
}

static void nobody_answered(struct timer *timer)
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
		cm_wait(id, timeout, nobody_answered);
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

/* ---- query ---- */

/* As much as the program has room for; the number of the device came later than the rest. */
static int respond(struct cm_cmd *cmd, uint64_t response, const void *resp, size_t least,
		   size_t size)
{
	if (cmd->out_size < least)
		return refuse(-ENOSPC, "room for the answer");
	return cm_file_write(cmd->file, response, resp,
			     cmd->out_size < size ? cmd->out_size : size);
}

/*
 * As kernels before 5.9, without the device's index: programs learn that from netlink, which has no
 * emulated device, and librdmacm 30 to 39 takes the device for another one when only the kernel
 * knows it.
 */
int cm_cmd_query_route(struct cm_cmd *cmd)
{
	const size_t size = offsetof(struct rdma_ucm_query_route_resp, ibdev_index);
	const struct rdma_ucm_query *in = cmd->in;
	struct rdma_ucm_query_route_resp resp;

	cm_query_route(cmd->id, &resp);
	return respond(cmd, in->response, &resp, size, size);
}

static int query_path(struct cm_cmd *cmd, const struct cm_id *id, uint64_t response)
{
	/* struct rdma_ucm_query_path_resp, with the one path that there can be. */
	struct {
		uint32_t num_paths, reserved;
		struct ib_path_rec_data path;
	} resp = { 0 };
	const size_t head = sizeof(struct rdma_ucm_query_path_resp);

	resp.num_paths = cm_query_path(id, &resp.path);
	return respond(cmd, response, &resp, head, head + resp.num_paths * sizeof(resp.path));
}

int cm_cmd_query(struct cm_cmd *cmd)
{
	const size_t size = offsetof(struct rdma_ucm_query_addr_resp, ibdev_index);
	const struct rdma_ucm_query *in = cmd->in;
	struct rdma_ucm_query_addr_resp resp;

	switch (in->option) {
	case RDMA_USER_CM_QUERY_ADDR:
		cm_query_addr(cmd->id, &resp);
		break;
	case RDMA_USER_CM_QUERY_GID:
		cm_query_gid(cmd->id, &resp);
		break;
	case RDMA_USER_CM_QUERY_PATH:
		return query_path(cmd, cmd->id, in->response);
	default:
		return refuse(-ENOSYS, "question that is not known");
	}
	return respond(cmd, in->response, &resp, size, size);
}
