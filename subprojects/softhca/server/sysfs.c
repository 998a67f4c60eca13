/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The device tree: what libibverbs and the tools of InfiniBand read of the devices. */
#include "server.h"
#include "tree.h"

#include <machine/port.h>
#include <dir.h>

#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *format_gid(const uint8_t *gid, int words, char *text)
{
	char *at = text;

	for (int i = 0; i < words; i++)
		at += sprintf(at, "%s%02x%02x", i ? ":" : "", gid[2 * i], gid[2 * i + 1]);
	return text;
}

static void guid_bytes(uint64_t guid, uint8_t bytes[8])
{
	guid = htobe64(guid);
	memcpy(bytes, &guid, sizeof(guid));
}

/* The name of an entry of a table; valid until the next call. */
static const char *entry(const char *table, unsigned int index)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s/%u", table, index);
	return name;
}

/* Entries first to count - 1 of a table: hard links to one file, which is faster. */
static void write_alike(struct tree *tree, const char *dir, const char *table, const char *line,
			unsigned int first, unsigned int count)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (first >= count)
		return;
	tree_attr(tree, dir, entry(table, first), "%s", line);
	tree_path(tree, dir, entry(table, first), from);
	for (unsigned int i = first + 1; !tree->err && i < count; i++) {
		snprintf(to, sizeof(to), "%s/%s/%s", tree->root, dir, entry(table, i));
		/* A file system may have no hard links. */
		if (link(from, to))
			tree_attr(tree, dir, entry(table, i), "%s", line);
	}
}

/* The loopback interface stands for that of a port that has none. */
static void write_gids(struct tree *tree, const struct hca_device *device, uint8_t port,
		       const char *dir)
{
	static const char v1[] = "IB/RoCE v1", v2[] = "RoCE v2";
	const char *interface = device->port[port].interface;
	uint8_t gid[16];
	enum gid_type type;
	char text[64];
	unsigned int i;

	for (i = 0; i < PORT_GIDS && (type = port_gid(device, port, i, gid)) != GID_NONE; i++) {
		tree_attr(tree, dir, entry("gids", i), "%s", format_gid(gid, 8, text));
		tree_attr(tree, dir, entry("gid_attrs/types", i), "%s",
			  type == GID_ROCE_V2 ? v2 : v1);
		if (type != GID_IB)
			tree_attr(tree, dir, entry("gid_attrs/ndevs", i), "%s",
				  interface[0] ? interface : "lo");
	}
	write_alike(tree, dir, "gids", format_gid((const uint8_t[16]){ 0 }, 8, text), i, PORT_GIDS);
	/* The kernel tells no type of an empty entry. libibverbs ignores what it reads here. */
	write_alike(tree, dir, "gid_attrs/types", v1, i, PORT_GIDS);
}

static void port_dir(const struct hca_device *device, int port, char dir[64])
{
	snprintf(dir, 64, "class/infiniband/%s/ports/%d", device->name, port);
}

static void write_state(struct tree *tree, const struct hca_device *device, int port)
{
	const char *interface = device->port[port].interface;
	const bool up = device->port[port].active;
	char dir[64];

	port_dir(device, port, dir);
	tree_attr(tree, dir, "state", up ? "4: ACTIVE" : "1: DOWN");
	tree_attr(tree, dir, "phys_state", up ? "5: LinkUp" : "2: Polling");
	if (!interface[0])
		return;
	snprintf(dir, sizeof(dir), "class/net/%s", interface);
	tree_attr(tree, dir, "carrier", up ? "1" : "0");
	tree_attr(tree, dir, "operstate", up ? "up" : "down");
}

static char tree_root[PATH_MAX];

static void show_port(const struct hca_device *device, int port)
{
	struct tree tree = { .root = tree_root, .again = true };

	write_state(&tree, device, port);
}

/* What tools read of an interface. */
static void write_interface(struct tree *tree, const struct hca_device *device, int number)
{
	const struct hca_port *port = &device->port[number];
	char dir[64];
	uint8_t mac[6];

	if (!port->interface[0])
		return;
	pci_class(tree, device, "net", port->interface);
	snprintf(dir, sizeof(dir), "class/net/%s", port->interface);
	port_own_mac(device, (uint8_t)number, mac);
	tree_attr(tree, dir, "address", "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		  mac[3], mac[4], mac[5]);
	tree_attr(tree, dir, "ifindex", "%u", port->interface_index);
	tree_attr(tree, dir, "dev_port", "%d", number - 1);
	tree_attr(tree, dir, "dev_id", "0x%x", number - 1);
	tree_attr(tree, dir, "type", "1"); /* ARPHRD_ETHER */
	tree_attr(tree, dir, "mtu", "1500");
}

static void write_port(struct tree *tree, const struct hca_device *device, int port)
{
	char dir[64];

	port_dir(device, port, dir);
	write_gids(tree, device, (uint8_t)port, dir);
	tree_attr(tree, dir, "pkeys/0", "0xffff");
	write_alike(tree, dir, "pkeys", "0x0000", 1, port_pkeys(device->machine));
	tree_attr(tree, dir, "lid", "0x%x", port_lid(device, (uint8_t)port));
	tree_attr(tree, dir, "lid_mask_count", "0");
	tree_attr(tree, dir, "sm_lid", "0x%x", port_sm_lid(device->machine));
	tree_attr(tree, dir, "sm_sl", "0");
	tree_attr(tree, dir, "cap_mask", "0x%08x", port_capabilities(device->machine));
	write_interface(tree, device, port);
	write_state(tree, device, port);
	tree_attr(tree, dir, "rate", "%s", device->model->rate);
	tree_attr(tree, dir, "link_layer",
		  device->machine->settings.ethernet ? "Ethernet" : "InfiniBand");
}

static void write_device(struct tree *tree, const struct hca_device *device, const char *driver)
{
	const struct model *model = device->model;
	char dir[64], text[64];
	uint8_t guid[8];

	pci_device(tree, device, driver);
	snprintf(dir, sizeof(dir), SYSFS_VERBS "/" SOFTHCA_VERBS_NODE "%d", device->index);
	tree_attr(tree, dir, "ibdev", "%s", device->name);
	tree_attr(tree, dir, "dev", "%d:%d", SOFTHCA_VERBS_MAJOR,
		  SOFTHCA_VERBS_MINOR + device->index);
	tree_attr(tree, dir, "uevent",
		  "MAJOR=%d\nMINOR=%d\nDEVNAME=infiniband/" SOFTHCA_VERBS_NODE "%d",
		  SOFTHCA_VERBS_MAJOR, SOFTHCA_VERBS_MINOR + device->index, device->index);
	tree_attr(tree, dir, "abi_version", "%u", model->driver_abi);
	snprintf(dir, sizeof(dir), "class/infiniband/%s", device->name);
	tree_attr(tree, dir, "node_type", "1: CA");
	guid_bytes(device->guid, guid);
	tree_attr(tree, dir, "node_guid", "%s", format_gid(guid, 4, text));
	guid_bytes(device_system_guid(device), guid);
	tree_attr(tree, dir, "sys_image_guid", "%s", format_gid(guid, 4, text));
	tree_attr(tree, dir, "hw_rev", "0");
	tree_attr(tree, dir, "board_id", "%s", model->board_id);
	tree_attr(tree, dir, "fw_ver", "%s", model->firmware);
	tree_attr(tree, dir, "hca_type", "%s", model->hca_type);
	for (int port = 1; port <= device->machine->settings.ports; port++)
		write_port(tree, device, port);
}

int sysfs_create(struct hca_machine *machine, const char *root)
{
	struct tree tree = { .root = tree_root };
	char driver[16];

	snprintf(tree_root, sizeof(tree_root), "%s", root);
	tree_attr(&tree, SYSFS_VERBS, "abi_version", "6");
	tree_attr(&tree, "class/misc/rdma_cm", "abi_version", "4");
	tree_attr(&tree, "class/misc/rdma_cm", "dev", "%d:%d", SOFTHCA_CM_MAJOR, SOFTHCA_CM_MINOR);
	pci_bus(&tree);
	snprintf(driver, sizeof(driver), "%.*s", (int)strcspn(machine->device[0].model->device, "_"),
		 machine->device[0].model->device);
	for (int i = 0; i < machine->settings.devices; i++)
		write_device(&tree, &machine->device[i], driver);
	modules_create(&tree, driver);
	if (machine->device[0].port[1].interface[0])
		tree_link(&tree, "class/net", "lo", "/sys/class/net/lo");
	machine->show_port = show_port;
	return tree.err;
}
