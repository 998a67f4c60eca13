/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Lists RDMA devices in a process of its own, which loads libibverbs. */
#include "devices.h"
#include "aside.h"
#include "verbs.h"

#include <dlfcn.h>
#include <errno.h>
#include <modern/modern.h>
#include <stdio.h>
#include <string.h>

#define TIMEOUT_MILLISECONDS 15000

/* QP numbers have 24 bits, so a kernel that has the command answers EINVAL. */
#define NO_QP_NUM 0xffffffffu

static bool has_open_qp(struct ibv_context *context)
{
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp;
	int err;

	if (modern_load() || modern_open_xrcd(context, -1, 0, &xrcd))
		return false;
	err = modern_open_tgt_qp(xrcd, NO_QP_NUM, MODERN_TGT_TRANSIENT, &qp);
	modern_close_xrcd(xrcd);
	return err == -EINVAL;
}

/* The exported function fills in struct ibv_port_attr as of 2011, which is enough. */
static void describe_ports(const struct verbs *verbs, struct ibv_context *context,
			   unsigned int count, struct device *device)
{
	for (; device->ports < count && device->ports < PORTS_MAX; device->ports++) {
		struct ibv_port_attr attr = { 0 };

		if (verbs->query_port(context, (uint8_t)(device->ports + 1), (void *)&attr))
			return;
		device->port[device->ports] = (struct device_port){ (int)attr.state,
								    attr.phys_state, attr.lid,
								    attr.link_layer };
	}
}

/* "mlx5" of libmlx5.so.1.24.44.0, or of libibverbs' link to it, libmlx5-rdmav34.so. */
static void name_driver(const struct ibv_context *context, struct device *device)
{
	const char *base;
	Dl_info info;

	if (!dladdr((const void *)context->ops.poll_cq, &info) || !info.dli_fname)
		return;
	base = basename(info.dli_fname);
	if (!strncmp(base, "lib", 3) && strcspn(base + 3, "-.") < sizeof(device->driver))
		snprintf(device->driver, sizeof(device->driver), "%.*s",
			 (int)strcspn(base + 3, "-."), base + 3);
}

static void describe(const struct verbs *verbs, struct ibv_device *ibv_device,
		     struct device *device)
{
	struct ibv_context *context;
	struct ibv_device_attr attr = { 0 };

	memset(device, 0, sizeof(*device));
	snprintf(device->name, sizeof(device->name), "%s", verbs->get_device_name(ibv_device));
	errno = 0;
	context = verbs->open_device(ibv_device);
	if (!context) {
		device->err = errno ? errno : EIO;
		return;
	}
	device->opened = true;
	name_driver(context, device);
	if (!verbs->query_device(context, &attr)) {
		snprintf(device->firmware, sizeof(device->firmware), "%.63s", attr.fw_ver);
		device->xrc = (attr.device_cap_flags & IBV_DEVICE_XRC) != 0;
		describe_ports(verbs, context, attr.phys_port_cnt, device);
		device->open_qp = device->xrc && has_open_qp(context);
	}
	verbs->close_device(context);
}

struct reading {
	const char *library;
	struct device_list *list;
};

static int read_devices(void *context, int out)
{
	const struct reading *reading = context;
	struct ibv_device **list;
	struct verbs verbs;
	int count = 0;

	if (!verbs_load(reading->library, &verbs) || !verbs.get_device_list || !verbs.open_device)
		return ENOENT;
	list = verbs.get_device_list(&count);
	for (int i = 0; list && i < count && i < DEVICES_MAX; i++) {
		struct device device;

		describe(&verbs, list[i], &device);
		if (!aside_give(out, &device, sizeof(device)))
			return EIO;
	}
	return 0;
}

static bool take_device(void *context, const void *record)
{
	struct device_list *list = ((const struct reading *)context)->list;

	if (list->count == DEVICES_MAX)
		return false;
	memcpy(&list->device[list->count++], record, sizeof(list->device[0]));
	return true;
}

int devices_read(const char *library, struct device_list *list)
{
	struct reading reading = { library, list };
	const struct aside aside = { read_devices, take_device, &reading, sizeof(struct device) };

	list->count = 0;
	return aside_do(&aside, TIMEOUT_MILLISECONDS);
}

bool device_usable(const struct device *device)
{
	return device->opened && device->xrc;
}

const char *port_state_name(int state)
{
	static const char *const names[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "DEFER" };

	return state >= 0 && state < (int)(sizeof(names) / sizeof(names[0])) ? names[state] : "?";
}

const char *port_layer_name(int layer)
{
	/* Kernels before RoCE report no link layer. */
	return layer == IBV_LINK_LAYER_ETHERNET	    ? "Ethernet"
	       : layer <= IBV_LINK_LAYER_INFINIBAND ? "InfiniBand"
						    : "?";
}

static void print_ports_json(struct json *json, const struct device *device)
{
	json_open(json, "ports", '[');
	for (unsigned int i = 0; i < device->ports; i++) {
		json_open(json, NULL, '{');
		json_number(json, "port", i + 1);
		json_string(json, "state", port_state_name(device->port[i].state));
		json_number(json, "lid", device->port[i].lid);
		json_string(json, "link_layer", port_layer_name(device->port[i].layer));
		json_close(json, '}');
	}
	json_close(json, ']');
}

void devices_print_json(struct json *json, const struct device_list *list)
{
	json_open(json, "devices", '[');
	for (size_t i = 0; i < list->count; i++) {
		const struct device *device = &list->device[i];

		json_open(json, NULL, '{');
		json_string(json, "name", device->name);
		json_string(json, "driver", device->driver[0] ? device->driver : NULL);
		json_string(json, "firmware", device->firmware[0] ? device->firmware : NULL);
		json_bool(json, "opened", device->opened);
		json_bool(json, "xrc", device->xrc);
		json_bool(json, "open_qp", device->open_qp);
		print_ports_json(json, device);
		json_close(json, '}');
	}
	json_close(json, ']');
}
