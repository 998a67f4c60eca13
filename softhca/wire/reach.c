/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The way from a QP to its peer. */
#include "wire.h"

#include <softhca/qp/qp.h>

static bool port_up(const struct hca_qp *qp, uint8_t port)
{
	return port >= 1 && port <= SETTINGS_MAX_PORTS && qp->device->port[port].active;
}

bool reach_receives(const struct hca_qp *qp)
{
	return qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD ||
	       qp->state == IBV_QPS_SQE;
}

struct hca_qp *reach(const struct hca_qp *qp, uint16_t lid, uint32_t qpn)
{
	enum ibv_qp_type type = qp->type == IBV_QPT_XRC_SEND ? IBV_QPT_XRC_RECV : qp->type;
	uint8_t port;
	struct hca_device *device = machine_route(qp->device->machine, lid, &port);
	struct hca_qp *peer = device ? device_qp(device, qpn) : NULL;

	if (!peer || peer->type != type || !reach_receives(peer))
		return NULL;
	/* All but the first P_Key are empty, and match nothing. */
	if (qp->attr.pkey_index || peer->attr.pkey_index)
		return NULL;
	if (peer->attr.port != port && !path_offered(peer, qp))
		return NULL;
	return port_up(qp, qp->attr.port) && port_up(peer, port) ? peer : NULL;
}
