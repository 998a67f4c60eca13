/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ctl objects`: every object and its owner, as JSON. */
#include "request.h"

#include <cm/cm.h>
#include <machine/port.h>
#include <qp/qp.h>

static const char *const type_names[HCA_TYPES] = {
	[HCA_AH] = "ah", [HCA_QP] = "qp", [HCA_SRQ] = "srq", [HCA_CQ] = "cq", [HCA_MR] = "mr",
	[HCA_XRCD] = "xrcd", [HCA_PD] = "pd",
};

const char *listing_qp_type(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return "RC";
	case IBV_QPT_UC:
		return "UC";
	case IBV_QPT_UD:
		return "UD";
	case IBV_QPT_XRC_SEND:
		return "XRC_SEND";
	default:
		return "XRC_RECV";
	}
}

const char *listing_qp_state(enum ibv_qp_state state)
{
	static const char *const names[] = { "RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR" };

	return names[state];
}

/* These write one member of a JSON object. All texts are our own, and need no escapes. */
static void put_number(FILE *out, const char *name, uint64_t value)
{
	fprintf(out, ",\"%s\":%llu", name, (unsigned long long)value);
}

static void put_text(FILE *out, const char *name, const char *value)
{
	fprintf(out, ",\"%s\":\"%s\"", name, value);
}

static void put_flag(FILE *out, const char *name, bool value)
{
	fprintf(out, ",\"%s\":%s", name, value ? "true" : "false");
}

static void list_qp(FILE *out, const struct hca_qp_handle *handle)
{
	const struct hca_qp *qp = handle->qp;

	put_number(out, "number", qp->qpn);
	put_text(out, "qp_type", listing_qp_type(qp->type));
	put_text(out, "state", listing_qp_state(qp->state));
	put_number(out, "dest_qp_num", qp->attr.dest_qpn);
	put_number(out, "handles", list_length(&qp->handles));
	put_number(out, "groups", list_length(&qp->groups));
	put_number(out, "async_events", handle->async_events);
}

static void list_srq(FILE *out, const struct hca_srq *srq)
{
	put_number(out, "number", srq->obj.number);
	put_flag(out, "xrc", srq->xrc);
	put_number(out, "available", srq_available(srq));
	put_number(out, "limit", srq->limit);
	put_number(out, "async_events", srq->async_events);
}

static void list_cq(FILE *out, const struct hca_cq *cq)
{
	put_number(out, "number", cq->obj.number);
	put_number(out, "size", cq->size);
	put_number(out, "completions", cq->producer);
	put_flag(out, "channel", cq->channel != NULL);
	put_flag(out, "overrun", cq->overrun);
}

static void list_mr(FILE *out, const struct hca_mr *mr)
{
	put_number(out, "number", mr->key);
	put_number(out, "length", mr->length);
	put_number(out, "access", mr->access);
}

static void list_xrcd(FILE *out, const struct hca_xrcd *xrcd)
{
	put_flag(out, "private", xrcd->pin < 0);
	put_number(out, "inode", xrcd->ino);
	put_number(out, "handles", xrcd->handles);
}

static void list_object(FILE *out, const struct hca_object *object)
{
	switch (object->type) {
	case HCA_QP:
		list_qp(out, container_of(object, struct hca_qp_handle, obj));
		break;
	case HCA_SRQ:
		list_srq(out, container_of(object, struct hca_srq, obj));
		break;
	case HCA_CQ:
		list_cq(out, container_of(object, struct hca_cq, obj));
		break;
	case HCA_MR:
		list_mr(out, container_of(object, struct hca_mr, obj));
		break;
	case HCA_XRCD:
		list_xrcd(out, container_of(object, struct hca_xrcd_handle, obj)->xrcd);
		break;
	default:
		put_number(out, "number", object->number);
		break;
	}
	put_number(out, "uses", object->uses);
}

/* The separator before an element of an array. */
static const char *separator(bool *first)
{
	const char *words = *first ? "\n" : ",\n";

	*first = false;
	return words;
}

static void list_context(FILE *out, const struct hca_context *ctx)
{
	bool first = true;

	fprintf(out, "{\"pid\":%d,\"device\":\"%s\",\"objects\":[", (int)ctx->client.pid,
		ctx->device->name);
	for (int type = HCA_TYPES - 1; type >= 0; type--) {
		list_for_each(struct hca_object, object, &ctx->objects[type], link) {
			fprintf(out, "%s{\"type\":\"%s\",\"handle\":%u", separator(&first),
				type_names[type], object->handle);
			list_object(out, object);
			fputc('}', out);
		}
	}
	fputs("]}", out);
}

static void list_contexts(FILE *out, const struct hca_machine *machine)
{
	bool first = true;

	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(struct hca_context, ctx, &machine->device[i].contexts, link) {
			fputs(separator(&first), out);
			list_context(out, ctx);
		}
	}
}

/* ---- ids of the connection manager ---- */

static const char *const cm_states[] = {
	[CM_IDLE] = "IDLE", [CM_BOUND] = "BOUND", [CM_ADDR_QUERY] = "ADDR_QUERY",
	[CM_ADDR_RESOLVED] = "ADDR_RESOLVED", [CM_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
	[CM_CONNECT] = "CONNECT", [CM_DISCONNECT] = "DISCONNECT", [CM_LISTEN] = "LISTEN",
};

static const char *const cm_ib_states[] = {
	[CM_NO_CONNECTION] = "NONE",	  [CM_OVER] = "OVER",
	[CM_REQ_SENT] = "REQ_SENT",	  [CM_REQ_RCVD] = "REQ_RCVD",
	[CM_REP_SENT] = "REP_SENT",	  [CM_REP_RCVD] = "REP_RCVD",
	[CM_ESTABLISHED] = "ESTABLISHED", [CM_DREQ_SENT] = "DREQ_SENT",
	[CM_DREQ_RCVD] = "DREQ_RCVD",	  [CM_TIMEWAIT] = "TIMEWAIT",
	[CM_SIDR_SENT] = "SIDR_SENT",	  [CM_SIDR_RCVD] = "SIDR_RCVD",
};

static const char *cm_space(const struct cm_id *id)
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

static void list_cm_ids(FILE *out, const struct hca_machine *machine)
{
	bool first = true;

	list_for_each(struct cm_id, id, &machine->cm->ids, known) {
		fprintf(out, "%s{\"pid\":%d,\"device\":\"%s\",\"number\":%u", separator(&first),
			(int)id->file->client.pid, id->device ? id->device->name : "-",
			id->number);
		put_text(out, "ps", cm_space(id));
		put_text(out, "state", cm_states[id->state]);
		put_text(out, "connection", cm_ib_states[id->ib_state]);
		put_number(out, "port", cm_addr_port(&id->src));
		fputc('}', out);
	}
}

/* ---- all of it ---- */

static void list_devices(FILE *out, const struct hca_machine *machine)
{
	for (int i = 0; i < machine->settings.devices; i++) {
		const struct hca_device *device = &machine->device[i];
		const struct numtab *numbers = device->numbers;

		fprintf(out,
			"%s{\"name\":\"%s\",\"lid\":%u,\"qps\":%u,\"cqs\":%u,\"srqs\":%u,\"mrs\":%u,\"pds\":%u}",
			i ? "," : "", device->name, port_lid(device, 1),
			device->qps.used, numbers[HCA_CQ].used, numbers[HCA_SRQ].used,
			numbers[HCA_MR].used, numbers[HCA_PD].used);
	}
}

int control_objects(struct request *request)
{
	fputs("{\"devices\":[", request->out);
	list_devices(request->out, request->machine);
	fputs("],\n\"contexts\":[", request->out);
	list_contexts(request->out, request->machine);
	fputs("],\n\"cm_ids\":[", request->out);
	list_cm_ids(request->out, request->machine);
	fputs("]}\n", request->out);
	return 0;
}
