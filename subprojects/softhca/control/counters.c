/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ctl counters`: a line for each device and QP. */
#include "request.h"

#include <qp/qp.h>

/* For what the request at the head of the send queue waits. */
static const char *wait_of(const struct hca_qp *qp)
{
	if (!list_empty(&qp->send.unanswered))
		return "answer";
	if (!qp->send.waiting)
		return "-";
	return qp->send.delayed ? "delay" : "buffer";
}

static void print_counts(FILE *out, const struct hca_counts *counts)
{
	fprintf(out, " %llu %llu %llu %llu %llu", (unsigned long long)counts->sent,
		(unsigned long long)counts->sent_bytes, (unsigned long long)counts->received,
		(unsigned long long)counts->received_bytes, (unsigned long long)counts->errors);
}

static void print_qp(FILE *out, const struct hca_context *ctx, const struct hca_qp *qp)
{
	fprintf(out, "qp %s %d %u %s %s", qp->device->name, (int)ctx->client.pid, qp->qpn,
		listing_qp_type(qp->type), listing_qp_state(qp->state));
	print_counts(out, &qp->counts);
	fprintf(out, " %s %u\n", wait_of(qp), qp->attr.dest_qpn);
}

/* A QP with several handles is shown once, with the process that has the oldest. */
static void print_context(FILE *out, const struct hca_context *ctx)
{
	list_for_each(struct hca_qp_handle, handle, &ctx->objects[HCA_QP], obj.link) {
		if (qp_oldest_handle(handle))
			print_qp(out, ctx, handle->qp);
	}
}

static struct hca_counts of_all_ports(const struct hca_device *device)
{
	struct hca_counts all = { 0 };

	for (int port = 1; port <= SETTINGS_MAX_PORTS; port++) {
		const struct hca_counts *counts = &device->port[port].counts;

		all.sent += counts->sent;
		all.sent_bytes += counts->sent_bytes;
		all.received += counts->received;
		all.received_bytes += counts->received_bytes;
		all.errors += counts->errors;
	}
	return all;
}

static void print_device(FILE *out, const struct hca_device *device)
{
	struct hca_counts counts = of_all_ports(device);

	fprintf(out, "device %s %u", device->name, device->qps.used);
	print_counts(out, &counts);
	fputc('\n', out);
	list_for_each(struct hca_context, ctx, &device->contexts, link)
		print_context(out, ctx);
}

int control_counters(struct request *request)
{
	for (int i = 0; i < request->machine->settings.devices; i++)
		print_device(request->out, &request->machine->device[i]);
	return 0;
}
