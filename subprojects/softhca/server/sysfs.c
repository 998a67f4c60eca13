/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The device tree: what libibverbs and the tools of InfiniBand read of the devices. */
#include "server.h"

#include <machine/port.h>
#include <proto.h>

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The root of the tree, and the first error. After an error the functions do nothing. */
struct tree {
	const char *root;
	int err;
};

static void make_dirs(struct tree *tree, char *path)
{
	for (char *slash = path + strlen(tree->root); !tree->err && (slash = strchr(slash, '/'));
	     slash++) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			tree->err = -errno;
		*slash = '/';
	}
}

/* A file with one line; or, if the line is NULL, a directory, whose name ends in a slash. */
__attribute__((format(printf, 3, 4))) static void write_attr(struct tree *tree, const char *line,
							     const char *format, ...)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/", tree->root);
	va_list args;
	FILE *file;

	va_start(args, format);
	vsnprintf(path + length, sizeof(path) - (size_t)length, format, args);
	va_end(args);
	make_dirs(tree, path);
	if (tree->err || !line)
		return;
	file = fopen(path, "we");
	if (!file) {
		tree->err = -errno;
		return;
	}
	if (fprintf(file, "%s\n", line) < 0)
		tree->err = -EIO;
	if (fclose(file) && !tree->err)
		tree->err = -errno;
}

/* A symbolic link; @target is relative to where it stands. */
__attribute__((format(printf, 3, 4))) static void write_link(struct tree *tree, const char *target,
							     const char *format, ...)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/", tree->root);
	va_list args;

	va_start(args, format);
	vsnprintf(path + length, sizeof(path) - (size_t)length, format, args);
	va_end(args);
	make_dirs(tree, path);
	if (!tree->err && symlink(target, path))
		tree->err = -errno;
}

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

/* Entries first to count - 1 of a table: hard links to one file, which is faster. */
static void write_alike(struct tree *tree, const char *line, const char *table, unsigned int first,
			unsigned int count)
{
	char path[PATH_MAX], from[PATH_MAX + 16], to[PATH_MAX + 16];

	if (first >= count)
		return;
	write_attr(tree, line, "%s/%u", table, first);
	snprintf(path, sizeof(path), "%s/%s", tree->root, table);
	snprintf(from, sizeof(from), "%s/%u", path, first);
	for (unsigned int i = first + 1; !tree->err && i < count; i++) {
		snprintf(to, sizeof(to), "%s/%u", path, i);
		/* A file system may have no hard links. */
		if (link(from, to))
			write_attr(tree, line, "%s/%u", table, i);
	}
}

/* The loopback interface stands for that of a port that has none. */
static void write_gids(struct tree *tree, const struct hca_device *device, uint8_t port,
		       const char *dir)
{
	static const char v1[] = "IB/RoCE v1", v2[] = "RoCE v2";
	const char *interface = device->port[port].interface;
	char text[64], table[96];
	uint8_t gid[16];
	enum gid_type type;
	unsigned int i;

	for (i = 0; i < PORT_GIDS && (type = port_gid(device, port, i, gid)) != GID_NONE; i++) {
		write_attr(tree, format_gid(gid, 8, text), "%s/gids/%u", dir, i);
		write_attr(tree, type == GID_ROCE_V2 ? v2 : v1, "%s/gid_attrs/types/%u", dir, i);
		if (type != GID_IB)
			write_attr(tree, interface[0] ? interface : "lo", "%s/gid_attrs/ndevs/%u",
				   dir, i);
	}
	snprintf(table, sizeof(table), "%s/gids", dir);
	write_alike(tree, format_gid((const uint8_t[16]){ 0 }, 8, text), table, i, PORT_GIDS);
	/* The kernel tells no type of an empty entry. libibverbs ignores what it reads here. */
	snprintf(table, sizeof(table), "%s/gid_attrs/types", dir);
	write_alike(tree, v1, table, i, PORT_GIDS);
}

static void write_pkeys(struct tree *tree, const struct hca_device *device, const char *dir)
{
	char table[96];

	snprintf(table, sizeof(table), "%s/pkeys", dir);
	write_attr(tree, "0xffff", "%s/0", table);
	write_alike(tree, "0x0000", table, 1, (unsigned int)port_pkeys(device->machine));
}

static void write_state(struct tree *tree, const struct hca_device *device, int port)
{
	const char *interface = device->port[port].interface;
	const bool up = device->port[port].active;

	write_attr(tree, up ? "4: ACTIVE" : "1: DOWN", "class/infiniband/%s/ports/%d/state",
		   device->name, port);
	write_attr(tree, up ? "5: LinkUp" : "2: Polling", "class/infiniband/%s/ports/%d/phys_state",
		   device->name, port);
	if (!interface[0])
		return;
	write_attr(tree, up ? "1" : "0", "class/net/%s/carrier", interface);
	write_attr(tree, up ? "up" : "down", "class/net/%s/operstate", interface);
}

static char tree_root[PATH_MAX];

static void show_port(const struct hca_device *device, int port)
{
	struct tree tree = { .root = tree_root };

	write_state(&tree, device, port);
}

/* The links from an interface to its adapter and back, and all that tools read there. */
static void write_interface(struct tree *tree, const struct hca_device *device, int number)
{
	const struct hca_port *port = &device->port[number];
	const char *name = port->interface;
	char text[64], dir[64];
	uint8_t mac[6];

	if (!name[0])
		return;
	snprintf(dir, sizeof(dir), "class/net/%s", name);
	port_own_mac(device, (uint8_t)number, mac);
	snprintf(text, sizeof(text), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
		 mac[3], mac[4], mac[5]);
	write_attr(tree, text, "%s/address", dir);
	snprintf(text, sizeof(text), "%u", port->interface_index);
	write_attr(tree, text, "%s/ifindex", dir);
	snprintf(text, sizeof(text), "%d", number - 1);
	write_attr(tree, text, "%s/dev_port", dir);
	snprintf(text, sizeof(text), "0x%x", number - 1);
	write_attr(tree, text, "%s/dev_id", dir);
	write_attr(tree, "1", "%s/type", dir); /* ARPHRD_ETHER */
	write_attr(tree, "1500", "%s/mtu", dir);
	snprintf(text, sizeof(text), "../../infiniband/%s/device", device->name);
	write_link(tree, text, "%s/device", dir);
	snprintf(text, sizeof(text), "../../../../net/%s", name);
	write_link(tree, text, "class/infiniband/%s/device/net/%s", device->name, name);
}

static void write_port(struct tree *tree, const struct hca_device *device, int port)
{
	char text[64];
	char dir[64];

	snprintf(dir, sizeof(dir), "class/infiniband/%s/ports/%d", device->name, port);
	write_gids(tree, device, (uint8_t)port, dir);
	write_pkeys(tree, device, dir);
	snprintf(text, sizeof(text), "0x%x", port_lid(device, (uint8_t)port));
	write_attr(tree, text, "%s/lid", dir);
	write_attr(tree, "0", "%s/lid_mask_count", dir);
	snprintf(text, sizeof(text), "0x%x", port_sm_lid(device->machine));
	write_attr(tree, text, "%s/sm_lid", dir);
	write_attr(tree, "0", "%s/sm_sl", dir);
	snprintf(text, sizeof(text), "0x%08x", port_capabilities(device->machine));
	write_attr(tree, text, "%s/cap_mask", dir);
	write_state(tree, device, port);
	write_interface(tree, device, port);
	write_attr(tree, device->model->rate, "%s/rate", dir);
	write_attr(tree, device->machine->settings.ethernet ? "Ethernet" : "InfiniBand",
		   "%s/link_layer", dir);
}

static void write_device(struct tree *tree, const struct hca_device *device)
{
	const struct model *model = device->model;
	char text[64];
	uint8_t guid[8];

	guid_bytes(device->guid, guid);
	write_attr(tree, device->name, "class/infiniband_verbs/uverbs%d/ibdev", device->index);
	/* /dev/null's number, which stands for the uverbs file. libibverbs does not check 0:0. */
	write_attr(tree, "1:3", "class/infiniband_verbs/uverbs%d/dev", device->index);
	snprintf(text, sizeof(text), "%u", model->driver_abi);
	write_attr(tree, text, "class/infiniband_verbs/uverbs%d/abi_version", device->index);
	write_attr(tree, "1: CA", "class/infiniband/%s/node_type", device->name);
	write_attr(tree, format_gid(guid, 4, text), "class/infiniband/%s/node_guid", device->name);
	guid_bytes(device_system_guid(device), guid);
	write_attr(tree, format_gid(guid, 4, text), "class/infiniband/%s/sys_image_guid",
		   device->name);
	write_attr(tree, "0", "class/infiniband/%s/hw_rev", device->name);
	write_attr(tree, model->board_id, "class/infiniband/%s/board_id", device->name);
	write_attr(tree, model->firmware, "class/infiniband/%s/fw_ver", device->name);
	write_attr(tree, model->hca_type, "class/infiniband/%s/hca_type", device->name);
	/* libibverbs chooses the provider by the number in this file. */
	write_attr(tree, model->modalias, "class/infiniband/%s/device/modalias", device->name);
	write_attr(tree, "0x15b3", "class/infiniband/%s/device/vendor", device->name);
	snprintf(text, sizeof(text), "0x%04x", model->part_id);
	write_attr(tree, text, "class/infiniband/%s/device/device", device->name);
	snprintf(text, sizeof(text), "../../../%s", device->name);
	write_link(tree, text, "class/infiniband/%s/device/infiniband/%s", device->name,
		   device->name);
	for (int port = 1; port <= device->machine->settings.ports; port++)
		write_port(tree, device, port);
}

/* ---- kernel modules: some MPI libraries take no InfiniBand adapter without them ---- */

/* %1$s is the driver of the adapters, mlx4 or mlx5. The last that was loaded comes first. */
static const struct module {
	const char *name;
	const char *holders;	/* the modules that use it */
	unsigned int bytes;
} modules[] = {
	{ "%1$s_ib", "", 249856 },
	{ "%1$s_core", "%1$s_ib", 417792 },
	{ "rdma_ucm", "", 32768 },
	{ "rdma_cm", "rdma_ucm", 139264 },
	{ "iw_cm", "rdma_cm", 61440 },
	{ "ib_cm", "rdma_cm", 139264 },
	{ "ib_umad", "", 40960 },
	{ "ib_uverbs", "rdma_ucm,%1$s_ib", 176128 },
	{ "ib_core", "rdma_cm,iw_cm,rdma_ucm,ib_cm,ib_umad,ib_uverbs,%1$s_ib", 458752 },
};

#define MODULE_COUNT (sizeof(modules) / sizeof(modules[0]))

/* @line: of /proc/modules. */
static bool is_emulated(const char *line, const char *driver)
{
	char start[32];

	for (size_t i = 0; i < MODULE_COUNT; i++) {
		snprintf(start, sizeof(start), modules[i].name, driver);
		strcat(start, " ");
		if (!strncmp(line, start, strlen(start)))
			return true;
	}
	return false;
}

/* The lines of this machine's own modules. */
static void copy_modules(FILE *out, const char *driver)
{
	FILE *own = fopen("/proc/modules", "re");
	char line[4096];

	while (own && fgets(line, sizeof(line), own)) {
		if (!is_emulated(line, driver))
			fputs(line, out);
	}
	if (own)
		fclose(own);
}

/* The files that lsmod(8) reads beside /proc/modules. Returns the number of holders. */
static unsigned int write_module(struct tree *tree, const char *name, const char *holders,
				 unsigned int bytes)
{
	char names[128], *rest = strcpy(names, holders), *holder, text[16];
	unsigned int count = 0;

	write_attr(tree, NULL, "module/%s/holders/", name);
	while ((holder = strsep(&rest, ",")) != NULL && holder[0]) {
		write_attr(tree, NULL, "module/%s/holders/%s/", name, holder);
		count++;
	}
	write_attr(tree, "live", "module/%s/initstate", name);
	snprintf(text, sizeof(text), "%u", bytes);
	write_attr(tree, text, "module/%s/coresize", name);
	snprintf(text, sizeof(text), "%u", count);
	write_attr(tree, text, "module/%s/refcnt", name);
	return count;
}

static void write_modules(struct tree *tree, const char *driver)
{
	char *text = NULL, name[32], holders[128];
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out) {
		tree->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < MODULE_COUNT; i++) {
		snprintf(name, sizeof(name), modules[i].name, driver);
		snprintf(holders, sizeof(holders), modules[i].holders, driver);
		fprintf(out, "%s %u %u %s%s Live 0x0000000000000000\n", name, modules[i].bytes,
			write_module(tree, name, holders, modules[i].bytes),
			holders[0] ? holders : "-", holders[0] ? "," : "");
	}
	copy_modules(out, driver);
	fclose(out);
	text[size - 1] = '\0'; /* write_attr() ends the line */
	write_attr(tree, text, SYSFS_MODULES);
	free(text);
}

int sysfs_create(struct hca_machine *machine, const char *root)
{
	char driver[16];

	struct tree tree = { .root = tree_root };

	snprintf(tree_root, sizeof(tree_root), "%s", root);
	write_attr(&tree, "6", "class/infiniband_verbs/abi_version");
	write_attr(&tree, "4", "class/misc/rdma_cm/abi_version");
	for (int i = 0; i < machine->settings.devices; i++)
		write_device(&tree, &machine->device[i]);
	snprintf(driver, sizeof(driver), "%.*s", (int)strcspn(machine->device[0].model->device, "_"),
		 machine->device[0].model->device);
	write_modules(&tree, driver);
	if (machine->device[0].port[1].interface[0])
		write_link(&tree, "/sys/class/net/lo", "class/net/lo");
	machine->show_port = show_port;
	return tree.err;
}
