/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Answers to questions about an id: addresses, path, attributes of its queue pair. */
#include "id.h"

#include <base/refuse.h>
#include <machine/port.h>

#include <endian.h>
#include <errno.h>
#include <string.h>

#define EXACTLY    2 /* selector of MTU, rate and life time */
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
	path->mtu = port_mtu(id->file->machine);
	path->numb_path = 1;
	path->mtu_selector = path->rate_selector = path->packet_life_time_selector = EXACTLY;
	path->rate = id->device->model->path_rate;
	path->packet_life_time = CM_PATH_LIFETIME;
}

static void put_route(const struct cm_id *id, struct rdma_ucm_query_route_resp *resp)
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
	resp->ib_route[0].pkey = CM_PKEY;
	if (has_route(id))
		put_path(id, &resp->ib_route[0]);
}

static void put_device(const struct cm_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	if (!id->device)
		return;
	resp->node_guid = node_guid(id);
	resp->port_num = id->port;
	resp->pkey = CM_PKEY;
}

static void put_addr(const struct cm_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	memset(resp, 0, sizeof(*resp));
	resp->src_size = (uint16_t)cm_addr_size(&id->src);
	memcpy(&resp->src_addr, &id->src, resp->src_size);
	resp->dst_size = (uint16_t)cm_addr_size(&id->dst);
	memcpy(&resp->dst_addr, &id->dst, resp->dst_size);
	put_device(id, resp);
}

static void put_gid(const struct cm_id *id, struct rdma_ucm_query_addr_resp *resp)
{
	struct cm_sockaddr_ib src = { .family = CM_AF_IB, .pkey = CM_PKEY }, dst = src;

	memset(resp, 0, sizeof(*resp));
	put_device(id, resp);
	put_gids(id, src.gid, dst.gid);
	src.sid = htobe64(cm_addr_service(id, &id->src));
	dst.sid = htobe64(cm_addr_service(id, &id->dst));
	resp->src_size = resp->dst_size = sizeof(src);
	memcpy(&resp->src_addr, &src, sizeof(src));
	memcpy(&resp->dst_addr, &dst, sizeof(dst));
}

static unsigned int put_path_record(const struct cm_id *id, struct ib_path_rec_data *path)
{
	struct wire_path wire = { 0 };

	memset(path, 0, sizeof(*path));
	if (!has_route(id))
		return 0;
	put_gids(id, wire.sgid, wire.dgid);
	wire.dlid = lid_of(id->dst_device, id->dst_port);
	wire.slid = lid_of(id->device, id->port);
	wire.reversible_count = REVERSIBLE | 1;
	wire.pkey = CM_PKEY;
	wire.mtu = EXACTLY << 6 | port_mtu(id->file->machine);
	wire.rate = (uint8_t)(EXACTLY << 6 | id->device->model->path_rate);
	wire.life_time = EXACTLY << 6 | CM_PATH_LIFETIME;
	path->flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
	memcpy(path->path_rec, &wire, sizeof(wire));
	return 1;
}

/* Writes what the program has room for. */
static int respond(struct cm_cmd *cmd, uint64_t response, const void *resp, size_t least,
		   size_t size)
{
	if (cmd->out_size < least)
		return refuse(-ENOSPC, "room for the answer");
	return cm_file_write(cmd->file, response, resp,
			     cmd->out_size < size ? cmd->out_size : size);
}

/*
 * As kernels before 5.9, without the device's index. Programs learn that from netlink, which the
 * hooks hide from libnl. librdmacm 30 to 39 takes the device for another one when only the kernel
 * knows the index.
 */
int cm_cmd_query_route(struct cm_cmd *cmd)
{
	const size_t size = offsetof(struct rdma_ucm_query_route_resp, ibdev_index);
	const struct rdma_ucm_query *in = cmd->in;
	struct rdma_ucm_query_route_resp resp;

	put_route(cmd->id, &resp);
	return respond(cmd, in->response, &resp, size, size);
}

static int query_path(struct cm_cmd *cmd, uint64_t response)
{
	/* struct rdma_ucm_query_path_resp, with the one path that there can be. */
	struct {
		uint32_t num_paths, reserved;
		struct ib_path_rec_data path;
	} resp = { 0 };
	const size_t head = sizeof(struct rdma_ucm_query_path_resp);

	resp.num_paths = put_path_record(cmd->id, &resp.path);
	return respond(cmd, response, &resp, head, head + resp.num_paths * sizeof(resp.path));
}

int cm_cmd_query(struct cm_cmd *cmd)
{
	const size_t size = offsetof(struct rdma_ucm_query_addr_resp, ibdev_index);
	const struct rdma_ucm_query *in = cmd->in;
	struct rdma_ucm_query_addr_resp resp;

	switch (in->option) {
	case RDMA_USER_CM_QUERY_ADDR:
		put_addr(cmd->id, &resp);
		break;
	case RDMA_USER_CM_QUERY_GID:
		put_gid(cmd->id, &resp);
		break;
	case RDMA_USER_CM_QUERY_PATH:
		return query_path(cmd, in->response);
	default:
		return refuse(-ENOSYS, "question that is not known");
	}
	return respond(cmd, in->response, &resp, size, size);
}

/* ---- attributes of the queue pair, as ib_cm gives them for each type and state ---- */

static bool connecting(const struct cm_id *id)
{
	return id->ib_state >= CM_REQ_SENT && id->ib_state <= CM_ESTABLISHED;
}

/* An id that waits for an answer does not know its peer yet. */
static bool knows_peer(const struct cm_id *id)
{
	return connecting(id) && id->ib_state != CM_REQ_SENT;
}

/* Also for an id that is not connected: its queue pair may be made before. */
static int init_attr(struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	attr->port_num = id->port;
	if (id->qp_type == IBV_QPT_UD) {
		attr->qkey = cm_sidr_qkey(id);
		attr->qp_attr_mask |= IBV_QP_QKEY;
		return 0;
	}
	attr->qp_attr_mask |= IBV_QP_ACCESS_FLAGS;
	if (id->ib_state == CM_NO_CONNECTION)
		return 0;
	if (!connecting(id))
		return refuse(-EINVAL, "id that is not connecting");
	attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (id->responder_resources)
		attr->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	return 0;
}

static int rtr_attr(const struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	if (!knows_peer(id))
		return refuse(-EINVAL, "peer that is not known yet");
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN;
	cm_addr_vector_to_peer(id, &attr->ah_attr);
	attr->path_mtu = port_mtu(id->file->machine);
	attr->dest_qp_num = id->remote_qpn;
	attr->rq_psn = id->remote_psn;
	if (id->qp_type == IBV_QPT_RC || id->qp_type == IBV_QPT_XRC_RECV) {
		attr->qp_attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
		attr->max_dest_rd_atomic = id->responder_resources;
	}
	return 0;
}

static int rts_attr(const struct cm_id *id, struct ib_uverbs_qp_attr *attr)
{
	if (!knows_peer(id))
		return refuse(-EINVAL, "peer that is not known yet");
	attr->qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	attr->sq_psn = id->psn;
	if (id->qp_type == IBV_QPT_RC || id->qp_type == IBV_QPT_XRC_SEND) {
		attr->qp_attr_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
		attr->retry_cnt = id->retry_count;
		attr->rnr_retry = id->rnr_retry;
		attr->max_rd_atomic = id->initiator_depth;
	}
	if (id->qp_type != IBV_QPT_UC) {
		attr->qp_attr_mask |= IBV_QP_TIMEOUT;
		attr->timeout = id->ack_timeout < 0 ? CM_ACK_TIMEOUT : (uint8_t)id->ack_timeout;
	}
	return 0;
}

static int query_qp_attr(struct cm_id *id, enum ibv_qp_state state, struct ib_uverbs_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = state;
	/* A datagram's queue pair needs nothing of a peer. */
	if (id->qp_type == IBV_QPT_UD || id->ib_state == CM_NO_CONNECTION)
		return init_attr(id, attr);
	switch (state) {
	case IBV_QPS_INIT:
		return init_attr(id, attr);
	case IBV_QPS_RTR:
		return rtr_attr(id, attr);
	case IBV_QPS_RTS:
		return rts_attr(id, attr);
	default:
		return refuse(-EINVAL, "state that no attributes are told for");
	}
}

int cm_cmd_init_qp_attr(struct cm_cmd *cmd)
{
	const struct rdma_ucm_init_qp_attr *in = cmd->in;
	struct ib_uverbs_qp_attr resp;
	int err;

	if (in->qp_state > IBV_QPS_ERR)
		return refuse(-EINVAL, "QP state");
	err = query_qp_attr(cmd->id, (enum ibv_qp_state)in->qp_state, &resp);
	return err ? err : cm_file_write(cmd->file, in->response, &resp, sizeof(resp));
}
