/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Addresses and paths of an id, in the three forms in which they can be asked for. */
#include "cm.h"

#include <softhca/machine/port.h>

#include <endian.h>
#include <string.h>

#define PKEY	  0xffff
#define RATE_56G  12
#define EXACTLY	  2 /* selector of MTU, rate and life time */
#define REVERSIBLE 0x80

/* A path as the subnet administrator sends it. */
struct wire_path {
	uint64_t service_id;
	uint8_t dgid[16], sgid[16];
	uint16_t dlid, slid;
	uint32_t flow_label_hop_limit;
	uint8_t traffic_class, reversible_count;
	uint16_t pkey, qos_class_sl;
	uint8_t mtu, rate, life_time, preference;
	uint8_t reserved[6];
};

_Static_assert(sizeof(struct wire_path) == sizeof(((struct ib_path_rec_data *)0)->path_rec),
	       "IBTA PathRecord");

static bool has_route(const struct cm_id *id)
{
	return id->dst_device && (id->state == CM_ROUTE_RESOLVED || id->state == CM_CONNECT ||
				  id->state == CM_DISCONNECT);
}

static uint64_t node_guid(const struct cm_id *id)
{
	return id->device ? htobe64(id->device->guid) : 0;
}

static uint16_t lid_of(const struct hca_device *device, uint8_t port)
{
	return htobe16(port_lid(device, port));
}

static void put_gids(const struct cm_id *id, uint8_t *sgid, uint8_t *dgid)
{
	if (id->device)
		cm_addr_gid(id, id->device, id->port, sgid);
	if (id->dst_device)
		cm_addr_gid(id, id->dst_device, id->dst_port, dgid);
}

static void put_path(const struct cm_id *id, struct ib_user_path_rec *path)
{
	path->dlid = lid_of(id->dst_device, id->dst_port);
	path->slid = lid_of(id->device, id->port);
	path->reversible = 1;
	path->mtu = CM_PATH_MTU;
	path->numb_path = 1;
	path->mtu_selector = path->rate_selector = path->packet_life_time_selector = EXACTLY;
	path->rate = RATE_56G;
	path->packet_life_time = CM_PATH_LIFETIME;
}

void cm_query_route(const struct cm_id *id, struct rdma_ucm_query_route_resp *resp)
{
	memset(resp, 0, sizeof(*resp));
	memcpy(&resp->src_addr, &id->src, sizeof(resp->src_addr));
	memcpy(&resp->dst_addr, &id->dst, sizeof(resp->dst_addr));
	resp->node_guid = node_guid(id);
	if (!id->device)
		return;
	resp->port_num = id->port;
	resp->num_paths = has_route(id);
	put_gids(id, resp->ib_route[0].sgid, resp->ib_route[0].dgid);
	resp->ib_route[0].pkey = PKEY;
	if (has_route(id))
		put_path(id, &resp->ib_route[0]);
}

static void put_device(const struct cm_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	if (!id->device)
		return;
	resp->node_guid = node_guid(id);
	resp->port_num = id->port;
	resp->pkey = PKEY;
}

void cm_query_addr(const struct cm_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	memset(resp, 0, sizeof(*resp));
	resp->src_size = (uint16_t)cm_addr_size(&id->src);
	memcpy(&resp->src_addr, &id->src, resp->src_size);
	resp->dst_size = (uint16_t)cm_addr_size(&id->dst);
	memcpy(&resp->dst_addr, &id->dst, resp->dst_size);
	put_device(id, resp);
}

void cm_query_gid(const struct cm_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	struct cm_sockaddr_ib src = { .family = CM_AF_IB, .pkey = PKEY }, dst = src;

	memset(resp, 0, sizeof(*resp));
	put_device(id, resp);
	put_gids(id, src.gid, dst.gid);
	src.sid = htobe64(cm_addr_service(id, &id->src));
	dst.sid = htobe64(cm_addr_service(id, &id->dst));
	resp->src_size = resp->dst_size = sizeof(src);
	memcpy(&resp->src_addr, &src, sizeof(src));
	memcpy(&resp->dst_addr, &dst, sizeof(dst));
}

unsigned int cm_query_path(const struct cm_id *id, struct ib_path_rec_data *path)
{
	struct wire_path wire = { 0 };

	memset(path, 0, sizeof(*path));
	if (!has_route(id))
		return 0;
	put_gids(id, wire.sgid, wire.dgid);
	wire.dlid = lid_of(id->dst_device, id->dst_port);
	wire.slid = lid_of(id->device, id->port);
	wire.reversible_count = REVERSIBLE | 1;
	wire.pkey = PKEY;
	wire.mtu = EXACTLY << 6 | CM_PATH_MTU;
	wire.rate = EXACTLY << 6 | RATE_56G;
	wire.life_time = EXACTLY << 6 | CM_PATH_LIFETIME;
	path->flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	memcpy(path->path_rec, &wire, sizeof(wire));
	return 1;
}
