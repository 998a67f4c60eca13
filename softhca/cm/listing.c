/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The ids of the connection manager. */
#include "listing.h"
#include "addr.h"

#include <arpa/inet.h>

static const char *state(const struct cm_id *id)
{
	static const char *const names[] = {
		[CM_IDLE] = "IDLE", [CM_BOUND] = "BOUND", [CM_ADDR_QUERY] = "ADDR_QUERY",
		[CM_ADDR_RESOLVED] = "ADDR_RESOLVED", [CM_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
		[CM_CONNECT] = "CONNECT",
		[CM_DISCONNECT] = "DISCONNECT", [CM_LISTEN] = "LISTEN",
	};

	return names[id->state];
}

static const char *connection(const struct cm_id *id)
{
	static const char *const names[] = {
		[CM_NO_LINK] = "NONE",
		[CM_OVER] = "OVER",
		[CM_REQ_SENT] = "REQ_SENT",
		[CM_REQ_RCVD] = "REQ_RCVD",
		[CM_REP_SENT] = "REP_SENT",
		[CM_REP_RCVD] = "REP_RCVD",
		[CM_ESTABLISHED] = "ESTABLISHED",
		[CM_DREQ_SENT] = "DREQ_SENT",
		[CM_DREQ_RCVD] = "DREQ_RCVD",
		[CM_TIMEWAIT] = "TIMEWAIT",
		[CM_SIDR_SENT] = "SIDR_SENT",
		[CM_SIDR_RCVD] = "SIDR_RCVD",
	};

	return names[id->link];
}

static const char *space(const struct cm_id *id)
{
	switch (id->ps) {
	case RDMA_PS_TCP:
		return "TCP";
	case RDMA_PS_UDP:
		return "UDP";
	case RDMA_PS_IPOIB:
		return "IPOIB";
	default:
		return "IB";
	}
}

static const char *device(const struct cm_id *id, char name[DEVICE_NAME_MAX])
{
	return id->device ? device_name(id->device, name) : "-";
}

void cm_listing_text(const struct hca_machine *machine, FILE *out)
{
	char name[DEVICE_NAME_MAX];

	list_for_each(node, &machine->cm.ids) {
		const struct cm_id *id = container_of(node, struct cm_id, known);

		fprintf(out, "%7d %-7s %-5s %6u ps=%s state=%s connection=%s port=%u\n",
			(int)id->file->pid, device(id, name), "cm_id", id->number, space(id),
			state(id), connection(id), cm_addr_port(&id->src));
	}
}

void cm_listing_json(const struct hca_machine *machine, FILE *out)
{
	char name[DEVICE_NAME_MAX];

	list_for_each(node, &machine->cm.ids) {
		const struct cm_id *id = container_of(node, struct cm_id, known);

		fprintf(out,
			"%s{\"pid\":%d,\"device\":\"%s\",\"number\":%u,\"ps\":\"%s\",\"state\":\"%s\",\"connection\":\"%s\","
			"\"port\":%u}",
			node == machine->cm.ids.next ? "" : ",", (int)id->file->pid,
			device(id, name), id->number, space(id), state(id), connection(id),
			cm_addr_port(&id->src));
	}
}
