/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The objects of the emulated machine: the truth that tests compare with, and the answer to "who
 * holds this QP?".
 */
#include "request.h"

#include <softhca/cm/cm.h>
#include <softhca/machine/port.h>
#include <softhca/objects/objects.h>

#include <string.h>

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

struct writer {
	FILE *out;
	bool json;
	bool first; /* in its array of JSON */
};

/* One detail of an object: "name":value in JSON, name=value for people. */
static void number(const struct writer *writer, const char *name, uint64_t value)
{
	fprintf(writer->out, writer->json ? ",\"%s\":%llu" : " %s=%llu", name,
		(unsigned long long)value);
}

static void text(const struct writer *writer, const char *name, const char *value)
{
	fprintf(writer->out, writer->json ? ",\"%s\":\"%s\"" : " %s=%s", name, value);
}

static void flag(const struct writer *writer, const char *name, bool value)
{
	if (writer->json)
		fprintf(writer->out, ",\"%s\":%s", name, value ? "true" : "false");
	else if (value)
		fprintf(writer->out, " %s", name);
}

static void list_qp(const struct writer *writer, const struct hca_qp_handle *handle)
{
	const struct hca_qp *qp = handle->qp;

	number(writer, "number", qp->qpn);
	text(writer, "qp_type", listing_qp_type(qp->type));
	text(writer, "state", listing_qp_state(qp->state));
	number(writer, "dest_qp_num", qp->attr.dest_qpn);
	number(writer, "handles", list_length(&qp->handles));
	number(writer, "groups", list_length(&qp->groups));
	number(writer, "async_events", handle->async_events);
}

static void list_srq(const struct writer *writer, const struct hca_srq *srq)
{
	number(writer, "number", srq->obj.number);
	flag(writer, "xrc", srq->xrc);
	number(writer, "available", srq_available(srq));
	number(writer, "limit", srq->limit);
	number(writer, "async_events", srq->async_events);
}

static void list_cq(const struct writer *writer, const struct hca_cq *cq)
{
	number(writer, "number", cq->obj.number);
	number(writer, "size", cq->size);
	number(writer, "completions", cq->producer);
	flag(writer, "channel", cq->channel != NULL);
	flag(writer, "overrun", cq->overrun);
}

static void list_mr(const struct writer *writer, const struct hca_mr *mr)
{
	number(writer, "number", mr->key);
	number(writer, "length", mr->length);
	number(writer, "access", mr->access);
}

static void list_xrcd(const struct writer *writer, const struct hca_xrcd *xrcd)
{
	flag(writer, "private", xrcd->pin < 0);
	number(writer, "inode", xrcd->ino);
	number(writer, "handles", xrcd->handles);
}

static void list_object(const struct writer *writer, const struct hca_object *object)
{
	switch (object->type) {
	case HCA_QP:
		list_qp(writer, (const void *)object);
		break;
	case HCA_SRQ:
		list_srq(writer, (const void *)object);
		break;
	case HCA_CQ:
		list_cq(writer, (const void *)object);
		break;
	case HCA_MR:
		list_mr(writer, (const void *)object);
		break;
	case HCA_XRCD:
		list_xrcd(writer, ((const struct hca_xrcd_handle *)(const void *)object)->xrcd);
		break;
	default:
		number(writer, "number", object->number);
		break;
	}
	number(writer, "uses", object->uses);
}

/* What separates the elements of an array. */
static const char *comma(struct writer *writer)
{
	const char *separator = writer->first ? "" : ",";

	writer->first = false;
	return separator;
}

static void list_objects(struct writer *writer, const struct hca_context *ctx)
{
	char name[DEVICE_NAME_MAX];

	for (int type = HCA_TYPES - 1; type >= 0; type--) {
		list_for_each(struct hca_object, object, &ctx->objects[type], link) {
			if (writer->json)
				fprintf(writer->out, "%s{\"type\":\"%s\",\"handle\":%u", comma(writer),
					type_names[type], object->handle);
			else
				fprintf(writer->out, "%7d %-7s %-5s %6u", (int)ctx->client.pid,
					device_name(ctx->device, name), type_names[type],
					object->handle);
			list_object(writer, object);
			fputs(writer->json ? "}" : "\n", writer->out);
		}
	}
}

static void list_context(struct writer *writer, const struct hca_context *ctx)
{
	char name[DEVICE_NAME_MAX];

	if (!writer->json) {
		list_objects(writer, ctx);
		return;
	}
	fprintf(writer->out, "%s{\"pid\":%d,\"device\":\"%s\",\"objects\":[", comma(writer),
		(int)ctx->client.pid, device_name(ctx->device, name));
	writer->first = true;
	list_objects(writer, ctx);
	fputs("]}", writer->out);
	writer->first = false;
}

static void list_contexts(struct writer *writer, const struct hca_machine *machine)
{
	writer->first = true;
	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(struct hca_context, ctx, &machine->device[i].contexts, link)
			list_context(writer, ctx);
	}
}

/* ---- ids of the connection manager ---- */

static const char *cm_state(const struct cm_id *id)
{
	static const char *const names[] = {
		[CM_IDLE] = "IDLE", [CM_BOUND] = "BOUND", [CM_ADDR_QUERY] = "ADDR_QUERY",
		[CM_ADDR_RESOLVED] = "ADDR_RESOLVED", [CM_ROUTE_RESOLVED] = "ROUTE_RESOLVED",
		[CM_CONNECT] = "CONNECT",
		[CM_DISCONNECT] = "DISCONNECT", [CM_LISTEN] = "LISTEN",
	};

	return names[id->state];
}

static const char *cm_connection(const struct cm_id *id)
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

static void list_cm_ids(struct writer *writer, const struct hca_machine *machine)
{
	char name[DEVICE_NAME_MAX];

	writer->first = true;
	list_for_each(struct cm_id, id, &machine->cm.ids, known) {
		const char *device = id->device ? device_name(id->device, name) : "-";

		if (writer->json)
			fprintf(writer->out, "%s{\"pid\":%d,\"device\":\"%s\",\"number\":%u",
				comma(writer), (int)id->file->client.pid, device, id->number);
		else
			fprintf(writer->out, "%7d %-7s %-5s %6u", (int)id->file->client.pid, device, "cm_id",
				id->number);
		text(writer, "ps", cm_space(id));
		text(writer, "state", cm_state(id));
		text(writer, "connection", cm_connection(id));
		number(writer, "port", cm_addr_port(&id->src));
		fputs(writer->json ? "}" : "\n", writer->out);
	}
}

/* ---- all of it ---- */

static void list_devices(const struct hca_machine *machine, FILE *out)
{
	char name[DEVICE_NAME_MAX];

	for (int i = 0; i < machine->settings.devices; i++) {
		const struct hca_device *device = &machine->device[i];
		const struct numtab *numbers = device->numbers;

		fprintf(out,
			"%s{\"name\":\"%s\",\"lid\":%u,\"qps\":%u,\"cqs\":%u,\"srqs\":%u,\"mrs\":%u,\"pds\":%u}",
			i ? "," : "", device_name(device, name), port_lid(device, 1),
			device->qps.used, numbers[HCA_CQ].used, numbers[HCA_SRQ].used,
			numbers[HCA_MR].used, numbers[HCA_PD].used);
	}
}

void listing_objects(const struct hca_machine *machine, FILE *out, bool json)
{
	struct writer writer = { .out = out, .json = json };

	if (json) {
		fputs("{\"devices\":[", out);
		list_devices(machine, out);
		fputs("],\"contexts\":[", out);
	} else {
		fprintf(out, "%7s %-7s %-5s %6s %s\n", "PID", "DEVICE", "TYPE", "HANDLE", "DETAILS");
	}
	list_contexts(&writer, machine);
	if (json)
		fputs("],\"cm_ids\":[", out);
	list_cm_ids(&writer, machine);
	if (json)
		fputs("]}\n", out);
}
