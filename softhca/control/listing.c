/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The objects of the emulated machine: the truth that tests compare with, and the answer to "who
 * holds this QP?".
 */
#include "listing.h"

#include <softhca/cm/listing.h>
#include <softhca/machine/port.h>
#include <softhca/objects/srq.h>

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

/* One detail of an object: "name":value in JSON, name=value for people. */
struct writer {
	FILE *out;
	bool json;
};

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
	unsigned int handles = 0, groups = 0;

	list_for_each(node, &qp->handles)
		handles++;
	list_for_each(node, &qp->groups)
		groups++;
	number(writer, "number", qp->qpn);
	text(writer, "qp_type", listing_qp_type(qp->type));
	text(writer, "state", listing_qp_state(qp->state));
	number(writer, "dest_qp_num", qp->attr.dest_qpn);
	number(writer, "handles", handles);
	number(writer, "groups", groups);
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

static void objects_json(const struct writer *writer, const struct hca_context *ctx)
{
	bool first = true;

	for (int type = HCA_TYPES - 1; type >= 0; type--) {
		list_for_each(node, &ctx->objects[type]) {
			const struct hca_object *object =
				container_of(node, struct hca_object, link);

			fprintf(writer->out, "%s{\"type\":\"%s\",\"handle\":%u", first ? "" : ",",
				type_names[type], object->handle);
			list_object(writer, object);
			fputc('}', writer->out);
			first = false;
		}
	}
}

static void objects_text(const struct writer *writer, const struct hca_context *ctx)
{
	char name[DEVICE_NAME_MAX];

	for (int type = HCA_TYPES - 1; type >= 0; type--) {
		list_for_each(node, &ctx->objects[type]) {
			const struct hca_object *object =
				container_of(node, struct hca_object, link);

			fprintf(writer->out, "%7d %-7s %-5s %6u", (int)ctx->pid,
				device_name(ctx->device, name), type_names[type], object->handle);
			list_object(writer, object);
			fputc('\n', writer->out);
		}
	}
}

static void devices_json(const struct hca_machine *machine, FILE *out)
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

static void contexts_json(const struct hca_machine *machine, const struct writer *writer)
{
	char name[DEVICE_NAME_MAX];
	bool first = true;

	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(node, &machine->device[i].contexts) {
			const struct hca_context *ctx =
				container_of(node, struct hca_context, link);

			fprintf(writer->out, "%s{\"pid\":%d,\"device\":\"%s\",\"objects\":[",
				first ? "" : ",", (int)ctx->pid, device_name(ctx->device, name));
			objects_json(writer, ctx);
			fputs("]}", writer->out);
			first = false;
		}
	}
}

void listing_objects(const struct hca_machine *machine, FILE *out, bool json)
{
	const struct writer writer = { out, json };

	if (json) {
		fputs("{\"devices\":[", out);
		devices_json(machine, out);
		fputs("],\"contexts\":[", out);
		contexts_json(machine, &writer);
		fputs("],\"cm_ids\":[", out);
		cm_listing_json(machine, out);
		fputs("]}\n", out);
		return;
	}
	fprintf(out, "%7s %-7s %-5s %6s %s\n", "PID", "DEVICE", "TYPE", "HANDLE", "DETAILS");
	for (int i = 0; i < machine->settings.devices; i++) {
		list_for_each(node, &machine->device[i].contexts)
			objects_text(&writer, container_of(node, struct hca_context, link));
	}
	cm_listing_text(machine, out);
}
