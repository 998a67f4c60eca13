/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ctl event`, `port` and `migrate`: events, the state of ports, and path migration. */
#include "request.h"

#include <objects/objects.h>
#include <qp/qp.h>

#include <errno.h>
#include <string.h>

enum target { ON_CQ, ON_QP, ON_SRQ, ON_PORT, ON_DEVICE };

static const struct {
	const char *name;
	enum ibv_event_type type;
	enum target target;
} event_names[] = {
	{ "cq_err", IBV_EVENT_CQ_ERR, ON_CQ },
	{ "qp_fatal", IBV_EVENT_QP_FATAL, ON_QP },
	{ "qp_req_err", IBV_EVENT_QP_REQ_ERR, ON_QP },
	{ "qp_access_err", IBV_EVENT_QP_ACCESS_ERR, ON_QP },
	{ "comm_est", IBV_EVENT_COMM_EST, ON_QP },
	{ "sq_drained", IBV_EVENT_SQ_DRAINED, ON_QP },
	{ "path_mig", IBV_EVENT_PATH_MIG, ON_QP },
	{ "path_mig_err", IBV_EVENT_PATH_MIG_ERR, ON_QP },
	{ "last_wqe_reached", IBV_EVENT_QP_LAST_WQE_REACHED, ON_QP },
	{ "srq_err", IBV_EVENT_SRQ_ERR, ON_SRQ },
	{ "srq_limit_reached", IBV_EVENT_SRQ_LIMIT_REACHED, ON_SRQ },
	{ "port_active", IBV_EVENT_PORT_ACTIVE, ON_PORT },
	{ "port_err", IBV_EVENT_PORT_ERR, ON_PORT },
	{ "lid_change", IBV_EVENT_LID_CHANGE, ON_PORT },
	{ "pkey_change", IBV_EVENT_PKEY_CHANGE, ON_PORT },
	{ "sm_change", IBV_EVENT_SM_CHANGE, ON_PORT },
	{ "client_reregister", IBV_EVENT_CLIENT_REREGISTER, ON_PORT },
	{ "gid_change", IBV_EVENT_GID_CHANGE, ON_PORT },
	{ "device_fatal", IBV_EVENT_DEVICE_FATAL, ON_DEVICE },
};

static int find_event(struct request *request, const char *name)
{
	const int count = sizeof(event_names) / sizeof(event_names[0]);

	for (int i = 0; i < count; i++) {
		if (!strcmp(event_names[i].name, name))
			return i;
	}
	fprintf(request->out, "no event %s; there are:", name);
	for (int i = 0; i < count; i++)
		fprintf(request->out, " %s", event_names[i].name);
	fputc('\n', request->out);
	return -1;
}

/* False when the device has no such object or port. */
static bool raise_on(struct hca_device *device, int event, uint32_t number)
{
	enum ibv_event_type type = event_names[event].type;
	struct hca_srq *srq;
	struct hca_qp *qp;
	struct hca_cq *cq;

	switch (event_names[event].target) {
	case ON_QP:
		qp = qp_find(device, number);
		if (qp)
			event_qp(qp, type);
		return qp;
	case ON_CQ:
		cq = numtab_find(&device->numbers[HCA_CQ], number);
		if (cq)
			event_cq(cq, type);
		return cq;
	case ON_SRQ:
		srq = numtab_find(&device->numbers[HCA_SRQ], number);
		if (srq)
			event_srq(srq, type);
		return srq;
	case ON_PORT:
		if (number < 1 || number > (uint32_t)device->machine->settings.ports)
			return false;
		event_device(device, type, (uint8_t)number);
		return true;
	default:
		event_device(device, type, 0);
		return true;
	}
}

/* False after a message. */
static bool take_number(struct request *request, const char *word, uint32_t *number)
{
	uint64_t value;

	if (!request_number(word, UINT32_MAX, &value)) {
		fprintf(request->out, "'%s' is not a number up to %u\n", word, UINT32_MAX);
		return false;
	}
	*number = (uint32_t)value;
	return true;
}

static int no_target(struct request *request, const char *what, uint32_t number)
{
	fprintf(request->out, "no %s %u on this device\n", what, number);
	return -ENOENT;
}

/* The object as programs see it, or the port (default 1). 0, or -EINVAL after a message. */
static int event_number(struct request *request, enum target target, uint32_t *number)
{
	bool given = request->count == 4;

	*number = 1;
	if (given && target == ON_DEVICE) {
		fprintf(request->out, "%s takes no number\n", request->word[2]);
		return -EINVAL;
	}
	if (!given && target < ON_PORT) {
		fprintf(request->out, "%s needs the number of its object\n", request->word[2]);
		return -EINVAL;
	}
	return !given || take_number(request, request->word[3], number) ? 0 : -EINVAL;
}

int control_event(struct request *request)
{
	static const char *const names[] = { [ON_CQ] = "CQ", [ON_QP] = "QP", [ON_SRQ] = "SRQ",
					     [ON_PORT] = "port" };
	struct hca_device *device;
	uint32_t number;
	int event, err;

	device = request_device(request, request->word[1]);
	event = find_event(request, request->word[2]);
	if (!device || event < 0)
		return -ENOENT;
	err = event_number(request, event_names[event].target, &number);
	if (err)
		return err;
	if (raise_on(device, event, number))
		return 0;
	return no_target(request, names[event_names[event].target], number);
}

/* ---- ports and paths ---- */

static void set_port(struct hca_device *device, uint8_t port, bool up)
{
	if (device->port[port].active == up)
		return;
	device->port[port].active = up;
	if (device->machine->show_port)
		device->machine->show_port(device, port);
	event_device(device, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, port);
	if (!up)
		path_leave(device, port);
}

int control_port(struct request *request)
{
	struct hca_device *device;
	uint32_t port;

	if (strcmp(request->word[3], "up") && strcmp(request->word[3], "down"))
		return request_usage(request);
	device = request_device(request, request->word[1]);
	if (!device)
		return -ENOENT;
	if (!take_number(request, request->word[2], &port))
		return -EINVAL;
	if (port < 1 || port > (uint32_t)device->machine->settings.ports)
		return no_target(request, "port", port);
	set_port(device, (uint8_t)port, !strcmp(request->word[3], "up"));
	return 0;
}

int control_migrate(struct request *request)
{
	struct hca_device *device;
	struct hca_qp *qp;
	uint32_t number;

	device = request_device(request, request->word[1]);
	if (!device)
		return -ENOENT;
	if (!take_number(request, request->word[2], &number))
		return -EINVAL;
	qp = qp_find(device, number);
	if (!qp)
		return no_target(request, "QP", number);
	if (path_migrate(qp))
		return 0;
	fprintf(request->out, "QP %u has no armed alternate path with a port that is up\n", number);
	return -EINVAL;
}
