/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The PCI devices of the adapters. UCX and NCCL take the address and the NUMA node of an adapter
 * from the path to which /sys/class/infiniband/NAME leads.
 */
#include "tree.h"

#include <dir.h>

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT "devices/" SYSFS_PCI_ROOT
#define LIST "bus/pci/devices"
#define NO_REGION "0x0000000000000000 0x0000000000000000 0x0000000000000000"

/* What modalias says of the device. */
struct pci_id {
	unsigned int vendor, device, subsystem_vendor, subsystem, class, subclass, interface;
};

static struct pci_id id_of(const struct model *model)
{
	struct pci_id id = { 0 };

	sscanf(model->modalias, "pci:v%8xd%8xsv%8xsd%8xbc%2xsc%2xi%2x", &id.vendor, &id.device,
	       &id.subsystem_vendor, &id.subsystem, &id.class, &id.subclass, &id.interface);
	return id;
}

/* lspci(8) skips a device without the first 64 bytes of its configuration space. */
static void write_config(struct tree *tree, const char *dir, const struct pci_id *id)
{
	const struct {
		unsigned int at, value;
	} words[] = {
		{ 0x00, id->vendor },
		{ 0x02, id->device },
		{ 0x04, 0x6 }, /* memory space, bus master */
		{ 0x08, id->interface << 8 },
		{ 0x0a, id->class << 8 | id->subclass },
		{ 0x2c, id->subsystem_vendor },
		{ 0x2e, id->subsystem },
	};
	uint8_t config[64] = { 0 };
	char path[PATH_MAX];
	FILE *file;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		config[words[i].at] = (uint8_t)words[i].value;
		config[words[i].at + 1] = (uint8_t)(words[i].value >> 8);
	}
	tree_path(tree, dir, "config", path);
	if (tree->err)
		return;
	file = fopen(path, "we");
	if (!file || fwrite(config, sizeof(config), 1, file) != 1)
		tree->err = -errno;
	if (file && fclose(file) && !tree->err)
		tree->err = -errno;
}

/* A line of this machine's first NUMA node; "" if the kernel has no NUMA nodes. */
static const char *first_node(const char *name, char text[4096])
{
	char path[64];
	FILE *file;

	text[0] = '\0';
	snprintf(path, sizeof(path), "/sys/devices/system/node/node0/%s", name);
	file = fopen(path, "re");
	if (file && fgets(text, 4096, file))
		text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	return text;
}

static void write_processors(struct tree *tree, const char *dir)
{
	char text[4096];

	tree_attr(tree, dir, "numa_node", first_node("cpulist", text)[0] ? "0" : "-1");
	tree_attr(tree, dir, "local_cpulist", "%s", text);
	tree_attr(tree, dir, "local_cpus", "%s", first_node("cpumap", text));
}

static void write_identity(struct tree *tree, const char *dir, const struct model *model)
{
	const struct pci_id id = id_of(model);

	/* libibverbs chooses the provider by the number in this file. */
	tree_attr(tree, dir, "modalias", "%s", model->modalias);
	tree_attr(tree, dir, "vendor", "0x%04x", id.vendor);
	tree_attr(tree, dir, "device", "0x%04x", id.device);
	tree_attr(tree, dir, "subsystem_vendor", "0x%04x", id.subsystem_vendor);
	tree_attr(tree, dir, "subsystem_device", "0x%04x", id.subsystem);
	tree_attr(tree, dir, "class", "0x%02x%02x%02x", id.class, id.subclass, id.interface);
	tree_attr(tree, dir, "revision", "0x00");
	tree_attr(tree, dir, "irq", "0");
	/* lspci(8) reads 7 regions: start, end and flags. */
	tree_attr(tree, dir, "resource", NO_REGION "\n" NO_REGION "\n" NO_REGION "\n" NO_REGION
		  "\n" NO_REGION "\n" NO_REGION "\n" NO_REGION);
	write_config(tree, dir, &id);
}

/* What NCCL and UCX read to estimate the bandwidth. */
static void write_speed(struct tree *tree, const char *dir)
{
	static const char *const speeds[] = { "current_link_speed", "max_link_speed" };
	static const char *const widths[] = { "current_link_width", "max_link_width" };

	for (int i = 0; i < 2; i++) {
		tree_attr(tree, dir, speeds[i], "8.0 GT/s PCIe");
		tree_attr(tree, dir, widths[i], "8");
	}
}

static void name_address(const struct hca_device *device, char address[32])
{
	snprintf(address, 32, SYSFS_PCI_BUS ":%02x.0", (unsigned int)device->index);
}

void pci_class(struct tree *tree, const struct hca_device *device, const char *kind,
	       const char *name)
{
	char address[32], dir[128], text[160];

	name_address(device, address);
	snprintf(dir, sizeof(dir), ROOT "/%s/%s/%s", address, kind, name);
	snprintf(text, sizeof(text), "../../../%s", address);
	tree_link(tree, dir, "device", text);
	snprintf(text, sizeof(text), "../../../../../class/%s", kind);
	tree_link(tree, dir, "subsystem", text);
	snprintf(text, sizeof(text), "../../%s", dir);
	snprintf(dir, sizeof(dir), "class/%s", kind);
	tree_link(tree, dir, name, text);
}

/* The bus and the driver lead to the device, and it to them. */
static void write_links(struct tree *tree, const char *dir, const char *address,
			const char *driver)
{
	char drivers[64], text[128];

	snprintf(drivers, sizeof(drivers), "bus/pci/drivers/%s_core", driver);
	snprintf(text, sizeof(text), "../../../../%s", dir);
	tree_link(tree, drivers, address, text);
	tree_link(tree, LIST, address, text + strlen("../"));
	snprintf(text, sizeof(text), "../../../%s", drivers);
	tree_link(tree, dir, "driver", text);
	tree_link(tree, dir, "subsystem", "../../../bus/pci");
}

void pci_device(struct tree *tree, const struct hca_device *device, const char *driver)
{
	char address[32], dir[64], uverbs[32];

	name_address(device, address);
	snprintf(dir, sizeof(dir), ROOT "/%s", address);
	write_identity(tree, dir, device->model);
	write_processors(tree, dir);
	write_speed(tree, dir);
	tree_attr(tree, dir, "uevent", "DRIVER=%s_core\nPCI_SLOT_NAME=%s\nMODALIAS=%s", driver,
		  address, device->model->modalias);
	write_links(tree, dir, address, driver);
	pci_class(tree, device, "infiniband", device->name);
	snprintf(uverbs, sizeof(uverbs), SOFTHCA_VERBS_NODE "%d", device->index);
	pci_class(tree, device, SYSFS_VERBS_CLASS, uverbs);
}

/*
 * Absolute links lead out of the tree, and may not lead to what the preload redirects. A command
 * that `softhca run` starts may start a daemon of its own, which sees the first one's devices.
 */
static void list_own_devices(struct tree *tree)
{
	DIR *list = opendir("/sys/" LIST);
	struct dirent *entry;
	char path[PATH_MAX], target[PATH_MAX];

	while (list && (entry = readdir(list))) {
		snprintf(path, sizeof(path), "/sys/" LIST "/%s", entry->d_name);
		if (entry->d_name[0] != '.' && realpath(path, target) &&
		    !strstr(target, SYSFS_PCI_ROOT))
			tree_link(tree, LIST, entry->d_name, target);
	}
	if (list)
		closedir(list);
}

void pci_bus(struct tree *tree)
{
	list_own_devices(tree);
	/* NCCL finds a device as /sys/class/pci_bus/BUS/../../ADDRESS. */
	tree_directory(tree, ROOT "/pci_bus/" SYSFS_PCI_BUS);
	tree_link(tree, "class/pci_bus", SYSFS_PCI_BUS,
		  "../../" ROOT "/pci_bus/" SYSFS_PCI_BUS);
}
