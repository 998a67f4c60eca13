/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The way from a QP to its peer, and automatic path migration. */
#include "qp.h"

#include <string.h>

static bool connected(const struct hca_qp *qp)
{
	return qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD;
}

bool path_migrate(struct hca_qp *qp)
{
	struct hca_qp_attr *attr = &qp->attr;

	if (attr->path_mig_state != IBV_MIG_ARMED || !connected(qp))
		return false;
	if (!attr->alt_port || !qp->device->port[attr->alt_port].active) {
		event_qp(qp, IBV_EVENT_PATH_MIG_ERR);
		return false;
	}
	attr->dest = attr->alt_dest;
	attr->port = attr->dest.port_num = attr->alt_port;
	attr->pkey_index = attr->alt_pkey_index;
	attr->timeout = attr->alt_timeout;
	attr->path_mig_state = IBV_MIG_MIGRATED;
	qp->send.lost = 0;
	event_qp(qp, IBV_EVENT_PATH_MIG);
	/* Requests that had no answer on the old path may get one on the new one. */
	sq_retry_unanswered(qp->device->machine);
	return true;
}

/* Visits each QP once, by its newest handle. */
void path_leave(struct hca_device *device, uint8_t port)
{
	list_for_each(struct hca_context, ctx, &device->contexts, link) {
		list_for_each(struct hca_qp_handle, handle, &ctx->objects[HCA_QP], obj.link) {
			if (qp_oldest_handle(handle) && handle->qp->attr.port == port)
				path_migrate(handle->qp);
		}
	}
}

/* Between @qp and this end of @peer, both ways. */
static bool joins(const struct hca_qp *qp, const struct hca_qp *peer, uint8_t port,
		  const struct ib_uverbs_qp_dest *dest)
{
	return qp->attr.dest.dlid == peer->device->port[port].lid &&
	       dest->dlid == qp->device->port[qp->attr.port].lid;
}

bool path_used(const struct hca_qp *qp, const struct hca_qp *peer)
{
	return joins(qp, peer, peer->attr.port, &peer->attr.dest);
}

bool path_offered(const struct hca_qp *qp, const struct hca_qp *peer)
{
	const struct hca_qp_attr *attr = &peer->attr;

	return attr->path_mig_state == IBV_MIG_ARMED &&
	       qp->attr.path_mig_state == IBV_MIG_MIGRATED &&
	       joins(qp, peer, attr->alt_port, &attr->alt_dest);
}

void path_met(struct hca_qp *qp, struct hca_qp *peer)
{
	if (!path_used(qp, peer)) {
		path_migrate(peer);
		return;
	}
	if (peer->attr.path_mig_state == IBV_MIG_MIGRATED ||
	    qp->attr.path_mig_state == IBV_MIG_MIGRATED)
		return;
	peer->attr.path_mig_state = qp->attr.path_mig_state = IBV_MIG_ARMED;
}

/* ---- paths as datagrams have them ---- */

struct av path_av(const struct hca_qp *qp)
{
	const struct ib_uverbs_qp_dest *dest = &qp->attr.dest;
	struct av av = { .dlid = dest->dlid,
			 .sl = dest->sl,
			 .sgid_index = dest->sgid_index,
			 .hop_limit = dest->hop_limit,
			 .traffic_class = dest->traffic_class,
			 .global = dest->is_global,
			 .flow_label = dest->flow_label,
			 .qpn = qp->attr.dest_qpn };

	memcpy(av.dgid, dest->dgid, sizeof(av.dgid));
	return av;
}

struct ib_uverbs_qp_dest path_dest(const struct av *av)
{
	struct ib_uverbs_qp_dest dest = {
		.dlid = av->dlid,
		.sl = av->sl,
		.sgid_index = av->sgid_index,
		.hop_limit = av->hop_limit,
		.traffic_class = av->traffic_class,
		.is_global = av->global,
		.flow_label = av->flow_label,
	};

	memcpy(dest.dgid, av->dgid, sizeof(dest.dgid));
	return dest;
}

/* ---- whom a message can reach ---- */

static bool port_up(const struct hca_qp *qp, uint8_t port)
{
	return port >= 1 && port <= SETTINGS_MAX_PORTS && qp->device->port[port].active;
}

bool path_receives(const struct hca_qp *qp)
{
	return connected(qp) || qp->state == IBV_QPS_SQE;
}

struct hca_qp *path_peer(const struct hca_qp *qp, uint16_t lid, uint32_t qpn)
{
	enum ibv_qp_type type = qp->type == IBV_QPT_XRC_SEND ? IBV_QPT_XRC_RECV : qp->type;
	uint8_t port;
	struct hca_device *device = machine_route(qp->device->machine, lid, &port);
	struct hca_qp *peer = device ? qp_find(device, qpn) : NULL;

	if (!peer || peer->type != type || !path_receives(peer))
		return NULL;
	/* All but the first P_Key are empty, and match nothing. */
	if (qp->attr.pkey_index || peer->attr.pkey_index)
		return NULL;
	if (peer->attr.port != port && !path_offered(qp, peer))
		return NULL;
	return port_up(qp, qp->attr.port) && port_up(peer, port) ? peer : NULL;
}
