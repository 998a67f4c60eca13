/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Examines the devices and their ports. */
#include "doctor.h"

#include <tools/program/needs.h>
#include <tools/program/providers.h>
#include <tools/text/memory.h>
#include <tools/text/text.h>

#include <errno.h>
#include <string.h>

/* Physical states of a port. */
#define POLLING 2
#define DISABLED 3

/* The facts of ibv_devinfo(1) in one line. */
static void show_device(const struct device *device)
{
	bool alone = device->xrc && !device->open_qp;
	const char *ports = "";

	for (unsigned int i = 0; i < device->ports; i++) {
		const struct ibv_port_attr *port = &device->port[i];
		bool has_lid = port->link_layer != IBV_LINK_LAYER_ETHERNET && port->lid;

		ports = format_string("%s; port %u %s%s, %s", ports, i + 1,
				      port_state_name(port->state),
				      has_lid ? format_string(", LID %u", port->lid) : "",
				      port_layer_name(port->link_layer));
	}
	print_finding(device->name, alone || device->err ? FINDING_NOTE : FINDING_OK,
		      alone ? "update to Linux 5.11 or later; until then ibv_reg_xrc_rcv_qp() fails with ENOSYS in all processes but the creator"
			    : NULL,
		      "%s%s", device_text(device), ports);
}

/* @err: why they could not be listed, or NULL. */
static void count_devices(const char *library, const struct device_list *list, const char *err)
{
	const struct driver_fault missing = providers_missing_device(library, list, NULL);
	const struct device *failed = NULL;
	int usable = 0;

	EACH(device, list->device, list->count) {
		usable += device->xrc;
		if (device->err)
			failed = device;
	}
	if (err)
		print_finding("devices", FINDING_PROBLEM, "try: ibv_devinfo",
			      "the devices cannot be listed: %s", err);
	else if (usable)
		print_finding("devices", FINDING_OK, NULL, "%d of %zu can carry XRC", usable,
			      list->count);
	else if (missing.text)
		print_finding("devices", FINDING_PROBLEM, missing.advice, "%s", missing.text);
	else if (!list->count)
		print_finding("devices", FINDING_PROBLEM,
			      "load the kernel's driver (mlx4_ib, mlx5_ib, hns_roce_hw_v2 or qedr, and ib_uverbs); give a container the "
			      "directory (--device /dev/infiniband); or use xrc-compat run --softhca",
			      "there is no RDMA device");
	else if (failed)
		print_finding(
			"devices", FINDING_PROBLEM,
			!failed->opened && (failed->err == EACCES || failed->err == EPERM ||
					    failed->err == ENOENT)
				? "check the permissions of /dev/infiniband/uverbs*; give a container the directory (--device /dev/infiniband)"
				: "look at the kernel's log (dmesg)",
			"%s %s", failed->name, device_text(failed));
	else
		print_finding("devices", FINDING_PROBLEM,
			      "use an mlx4, mlx5, hns or qedr adapter; or " DEVICES_BETWEEN_MACHINES,
			      "none of %zu has XRC: %s", list->count, devices_without_xrc(list));
}

#define KEEP_KERNEL_NAMES \
	"to have the kernel's names, put this line into " \
	"/etc/udev/rules.d/60-rdma-persistent-naming.rules and restart: ACTION==\"add\", " \
	"SUBSYSTEM==\"infiniband\", PROGRAM=\"rdma_rename %%k NAME_KERNEL\" -- or, until then: " \
	"rdma dev set %s name %s_0"

/* rdma_rename of rdma-core names devices by protocol and place. */
static void examine_names(const struct device_list *list)
{
	EACH(device, list->device, list->count) {
		const char *name = device->name, *driver = device->driver;

		/* Old programs ask for the kernel's names, as mlx4_0. They are older than qedr. */
		if (!text_matches(name, "@(ib[psoxf]|roce|iwp|opap|rdmap)*") ||
		    !device->xrc || !strcmp(driver, "qedr"))
			continue;
		print_finding("device names", FINDING_NOTE,
			      format_string(KEEP_KERNEL_NAMES, name, driver),
			      "udev has renamed %s; old programs that ask for %s_0 do not find it",
			      name, driver);
		return;
	}
}

static const char *reason_of(const struct ibv_port_attr *port)
{
	if (port->link_layer == IBV_LINK_LAYER_ETHERNET)
		return "the network interface is down: ip link set NAME up; or look at the cable";
	if (port->state == IBV_PORT_INIT || port->state == IBV_PORT_ARMED)
		return "no subnet manager has set it up: start opensm on one host, or the subnet manager of a switch";
	if (port->phys_state == DISABLED)
		return "the port is disabled: enable it, for instance with ibportstate";
	if (port->phys_state == POLLING)
		return "the port finds no other end: look at the cable, and at the switch";
	return "look at the cable, and whether a subnet manager runs (opensm)";
}

/*
 * Looks at devices with XRC only. The advice is for the port that is nearest to ACTIVE. On Ethernet
 * the kernel wants a GID, which the MPI libraries of that time do not give.
 */
static void examine_ports(const struct device_list *list)
{
	const struct device *best = NULL;
	unsigned int nearest = 0;

	EACH(device, list->device, list->count) {
		for (unsigned int k = 0; device->xrc && k < device->ports; k++) {
			if (device->port[k].state == IBV_PORT_ACTIVE &&
			    device->port[k].link_layer != IBV_LINK_LAYER_ETHERNET)
				return;
			if (best && device->port[k].state <= best->port[nearest].state)
				continue;
			best = device;
			nearest = k;
		}
	}
	if (best && best->port[nearest].state == IBV_PORT_ACTIVE)
		print_finding("ports", FINDING_NOTE,
			      "use an InfiniBand port; on Ethernet run programs that address by GID, as those on librdmacm",
			      "the active ports are Ethernet (RoCE); most old programs address by LID, and fail with EINVAL");
	else if (best)
		print_finding("ports", FINDING_PROBLEM, reason_of(&best->port[nearest]),
			      "no port is ACTIVE; port %u of %s is %s", nearest + 1, best->name,
			      port_state_name(best->port[nearest].state));
}

static void examine_modules(void)
{
	bool listed = ib_core_is_listed();

	print_finding("modules", listed ? FINDING_OK : FINDING_NOTE,
		      "HP-MPI and Platform MPI then use no InfiniBand: modprobe ib_uverbs; if the kernel has it built in, set "
		      "MPI_HASIC_IBV=1",
		      listed ? "lsmod lists ib_core" : "lsmod does not list ib_core");
}

void examine_devices(struct device_list *list)
{
	const char *library = needs_own_libibverbs();
	const char *error = devices_read(library, list);

	count_devices(library, list, error);
	examine_modules();
	EACH(device, list->device, list->count)
		show_device(device);
	examine_names(list);
	examine_ports(list);
}
