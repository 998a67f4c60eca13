/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Examines the adapters: XRC, names and ports. */
#include "doctor.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>

#define POLLING 2
#define DISABLED 3

static void describe_port(const struct device_port *port, unsigned int number, char *text,
			  size_t size)
{
	size_t used = strlen(text);

	used += (size_t)snprintf(text + used, size - used, "; port %u %s", number,
				 port_state_name(port->state));
	if (used < size && port->layer != IBV_LINK_LAYER_ETHERNET && port->lid)
		used += (size_t)snprintf(text + used, size - used, ", LID %u", port->lid);
	if (used < size)
		snprintf(text + used, size - used, ", %s", port_layer_name(port->layer));
}

/* The facts of ibv_devinfo(1) in one line. */
static void show_device(struct doctor *doctor, const struct device *device)
{
	bool alone = device->xrc && !device->open_qp;
	char ports[PORTS_MAX * 48] = "";

	if (!device->opened) {
		found(doctor, device->name, FINDING_NOTE, NULL, "cannot be opened: %s",
		      strerror(device->err));
		return;
	}
	for (unsigned int i = 0; i < device->ports; i++)
		describe_port(&device->port[i], i + 1, ports, sizeof(ports));
	found(doctor, device->name, alone ? FINDING_NOTE : FINDING_OK,
	      alone ? "update to Linux 5.11 or later; until then ibv_reg_xrc_rcv_qp() fails with ENOSYS in all processes but the creator"
		    : NULL,
	      "%s, firmware %s, %s%s", device->driver[0] ? device->driver : "unknown driver",
	      device->firmware,
	      alone	    ? "XRC without sharing of receive QPs between processes"
	      : device->xrc ? "XRC"
			    : "no XRC",
	      ports);
}

static void count_devices(struct doctor *doctor)
{
	const struct device_list *list = &doctor->devices;
	const char *blocked = NULL;
	int usable = 0;

	for (size_t i = 0; i < list->count; i++) {
		usable += device_usable(&list->device[i]);
		if (!list->device[i].opened)
			blocked = list->device[i].name;
	}
	if (doctor->devices_error)
		found(doctor, "devices", FINDING_PROBLEM, "try: ibv_devinfo",
		      "the devices cannot be listed: %s", strerror(-doctor->devices_error));
	else if (!list->count)
		found(doctor, "devices", FINDING_PROBLEM,
		      "load the kernel's driver (mlx4_ib, mlx5_ib and ib_uverbs), or use xrc-compat run --softhca",
		      "there is no RDMA device");
	else if (usable)
		found(doctor, "devices", FINDING_OK, NULL, "%d of %zu can carry XRC", usable,
		      list->count);
	else if (blocked)
		found(doctor, "devices", FINDING_PROBLEM,
		      "check the permissions of /dev/infiniband/uverbs*", "%s cannot be opened",
		      blocked);
	else
		found(doctor, "devices", FINDING_PROBLEM,
		      "use an mlx4, mlx5, hns or qedr adapter, or xrc-compat run --softhca",
		      "none of %zu has XRC", list->count);
}

/* The names that rdma_rename of rdma-core gives, by protocol and place. */
static bool is_renamed(const char *name)
{
	static const char *const beginnings[] = {
		"ibp", "ibs", "ibo", "ibx", "ibf", "roce", "iwp", "opap", "rdmap",
	};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	}
	return false;
}

static void examine_names(struct doctor *doctor)
{
	char advice[512];

	for (size_t i = 0; i < doctor->devices.count; i++) {
		const struct device *device = &doctor->devices.device[i];
		const char *driver = device->driver[0] ? device->driver : "mlx4";

		if (!is_renamed(device->name))
			continue;
		snprintf(advice, sizeof(advice),
			 "to have the kernel's names, put this line into /etc/udev/rules.d/60-rdma-persistent-naming.rules "
			 "and restart: ACTION==\"add\", SUBSYSTEM==\"infiniband\", PROGRAM=\"rdma_rename %%k NAME_KERNEL\" -- or, until "
			 "then: rdma dev set %s name %s_0",
			 device->name, driver);
		found(doctor, "device names", FINDING_NOTE, advice,
		      "udev has renamed %s; old programs that ask for %s_0 do not find it",
		      device->name, driver);
		return;
	}
}

static const char *reason_of(const struct device_port *port)
{
	if (port->layer == IBV_LINK_LAYER_ETHERNET)
		return "the network interface is down: ip link set NAME up; or look at the cable";
	if (port->state == IBV_PORT_INIT || port->state == IBV_PORT_ARMED)
		return "no subnet manager has set it up: start opensm on one host, or the subnet manager of a switch";
	if (port->physical == DISABLED)
		return "the port is disabled: enable it, for instance with ibportstate";
	if (port->physical == POLLING)
		return "the port finds no other end: look at the cable, and at the switch";
	return "look at the cable, and whether a subnet manager runs (opensm)";
}

/* Looks at devices with XRC only, and at their first port. */
static void examine_ports(struct doctor *doctor)
{
	const struct device_port *down = NULL;
	const char *name = "";

	for (size_t i = 0; i < doctor->devices.count; i++) {
		const struct device *device = &doctor->devices.device[i];

		for (unsigned int k = 0; device_usable(device) && k < device->ports; k++) {
			if (device->port[k].state == IBV_PORT_ACTIVE)
				return;
			if (!down)
				name = device->name;
			down = down ? down : &device->port[k];
		}
	}
	if (down)
		found(doctor, "ports", FINDING_PROBLEM, reason_of(down),
		      "none is ACTIVE; %s: port is %s", name, port_state_name(down->state));
}

void examine_devices(struct doctor *doctor)
{
	count_devices(doctor);
	for (size_t i = 0; i < doctor->devices.count; i++)
		show_device(doctor, &doctor->devices.device[i]);
	examine_names(doctor);
	examine_ports(doctor);
}
