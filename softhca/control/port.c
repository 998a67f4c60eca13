/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* `softhca ctl port` and `migrate`: the ways between the devices. */
#include "request.h"

#include <softhca/objects/objects.h>
#include <softhca/qp/qp.h>

#include <errno.h>
#include <string.h>

static void set_port(struct hca_device *device, uint8_t port, bool up)
{
	if (device->port[port].active == up)
		return;
	device->port[port].active = up;
	event_device(device, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR, port);
	if (!up)
		path_leave(device, port);
}

int control_port(struct request *request)
{
	struct hca_device *device;
	uint32_t port;

	if (strcmp(request->word[3], "up") && strcmp(request->word[3], "down"))
		return control_usage(request);
	device = control_device(request, request->word[1]);
	if (!device)
		return -ENOENT;
	if (!control_number(request, request->word[2], &port))
		return -EINVAL;
	if (port < 1 || port > (uint32_t)device->machine->settings.ports)
		return control_no_target(request, "port", port);
	set_port(device, (uint8_t)port, !strcmp(request->word[3], "up"));
	return 0;
}

int control_migrate(struct request *request)
{
	struct hca_device *device;
	struct hca_qp *qp;
	uint32_t number;

	device = control_device(request, request->word[1]);
	if (!device)
		return -ENOENT;
	if (!control_number(request, request->word[2], &number))
		return -EINVAL;
	qp = device_qp(device, number);
	if (!qp)
		return control_no_target(request, "QP", number);
	if (path_migrate(qp))
		return 0;
	fprintf(request->out, "QP %u has no armed alternate path with a port that is up\n", number);
	return -EINVAL;
}
