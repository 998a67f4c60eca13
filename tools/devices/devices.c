/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Lists RDMA devices in a process of its own, which loads libibverbs. */
#include "devices.h"
#include <tools/aside/aside.h>
#include <tools/text/json.h>
#include <tools/text/memory.h>

#include <modern/modern.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define TIMEOUT_SECONDS 15
#define NOT_LOADED 255 /* exit status; others are errno */

/* QP numbers have 24 bits, so a kernel that has the command answers EINVAL. */
#define NO_QP_NUM 0xffffffffu

/* The commands look these up by dlsym(), so that they start without libibverbs. */
static struct {
#define VERBS(X) \
	X(get_device_list) X(get_device_name) X(open_device) X(close_device) X(query_device) \
	X(query_port)
#define X(name) __typeof__(&(ibv_##name)) name;
	VERBS(X)
#undef X
} verbs;

/* @library: a path, or a name for dlopen(3). False if it does not load or is no libibverbs. */
static bool load(const char *library)
{
	void *handle = dlopen(library, RTLD_NOW);
	bool complete = handle;

#define X(name) \
	complete = complete && (verbs.name = (__typeof__(verbs.name))dlsym(handle, "ibv_" #name));
	VERBS(X)
#undef X
	return complete;
}

/* The kernel has said that the device has XRC. The provider may lack it. */
static void try_xrc(struct ibv_context *context, struct device *device)
{
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp;
	int err = modern_load() ?: modern_open_xrcd(context, -1, 0, &xrcd);

	device->kernel_only = err == -EOPNOTSUPP;
	device->err = device->kernel_only ? 0 : -err;
	device->xrc = !err;
	if (err)
		return;
	device->open_qp = modern_open_tgt_qp(xrcd, NO_QP_NUM, MODERN_TGT_TRANSIENT, &qp) == -EINVAL;
	modern_close_xrcd(xrcd);
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

static void describe(struct ibv_device *ibv_device, struct device *device)
{
	struct ibv_context *context;
	struct ibv_device_attr attr = { 0 };

	snprintf(device->name, sizeof(device->name), "%s", verbs.get_device_name(ibv_device));
	errno = 0;
	context = verbs.open_device(ibv_device);
	if (!context) {
		device->err = errno ? errno : EIO;
		return;
	}
	device->opened = true;
	name_driver(context, device);
	device->err = verbs.query_device(context, &attr);
	if (!device->err) {
		snprintf(device->firmware, sizeof(device->firmware), "%.63s", attr.fw_ver);
		device->queried = true;
		/* The exported function fills in the struct as of 2011, which is enough. */
		while (device->ports < attr.phys_port_cnt && device->ports < PORTS_MAX &&
		       !verbs.query_port(context, (uint8_t)(device->ports + 1),
					 (void *)&device->port[device->ports]))
			device->ports++;
		if (attr.device_cap_flags & IBV_DEVICE_XRC)
			try_xrc(context, device);
	}
	verbs.close_device(context);
}

/* Writes each device, and returns 0 or errno. If @library does not load: why, and NOT_LOADED. */
static int write_devices(const void *library)
{
	int count = 0, out = dup(STDOUT_FILENO);
	struct ibv_device **list;

	/* A driver's own output must not get among the devices. */
	dup2(STDERR_FILENO, STDOUT_FILENO);
	if (!load(library))
		return dprintf(out, "%s", dlerror()) < 0 ? errno : NOT_LOADED;
	errno = 0;
	list = verbs.get_device_list(&count);
	if (!list && errno != ENOSYS)	/* without kernel support there are no devices */
		return errno;
	for (int i = 0; list && i < count; i++) {
		struct device device = { 0 };

		describe(list[i], &device);
		_Static_assert(sizeof(device) <= PIPE_BUF, "the write is not split");
		if (write(out, &device, sizeof(device)) < 0)
			return errno;
	}
	return 0;
}

const char *devices_read(const char *library, struct device_list *list)
{
	const struct aside aside = { .prepare = write_devices, .context = library };
	struct aside_result result;
	bool unloaded;

	list->device = (void *)aside_output(&aside, TIMEOUT_SECONDS * 1000, &result);
	unloaded = result.status == W_EXITCODE(NOT_LOADED, 0);
	list->count = unloaded ? 0 : result.size / sizeof(list->device[0]);
	if (result.err == -ETIMEDOUT)
		return format_string("a driver did not answer within %d s", TIMEOUT_SECONDS);
	if (result.err)
		return strerror(-result.err);
	if (!WIFEXITED(result.status))
		return "a driver crashed";
	if (unloaded)
		return (char *)list->device;
	return result.status ? strerror(WEXITSTATUS(result.status)) : NULL;
}

const char *device_text(const struct device *device)
{
	if (device->err)
		return format_string("cannot %s: %s",
				     device->queried  ? "open an XRC domain"
				     : device->opened ? "be queried"
						      : "be opened",
				     strerror(device->err));
	return format_string("%s, firmware %s, %s",
			     device->driver[0] ? device->driver : "unknown driver",
			     device->firmware,
			     device->open_qp ? "XRC"
			     : device->xrc ? "XRC, without sharing of receive QPs between processes"
			     : device->kernel_only ? "no XRC in the provider"
						   : "no XRC");
}

const char *devices_without_xrc(const struct device_list *list)
{
	const char *names = "";

	EACH(device, list->device, list->count) {
		if (!device->xrc && !device->err)
			names = format_string(
				"%s%s%s (%s)", names, names[0] ? ", " : "", device->name,
				device->driver[0] ? device->driver : "unknown driver");
	}
	return names;
}

const char *port_state_name(enum ibv_port_state state)
{
	static const char *const names[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "DEFER" };

	return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
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
		json_number(json, "phys_state", device->port[i].phys_state);
		json_number(json, "lid", device->port[i].lid);
		json_string(json, "link_layer", port_layer_name(device->port[i].link_layer));
		json_close(json, '}');
	}
	json_close(json, ']');
}

void devices_print_json(struct json *json, const struct device_list *list)
{
	json_open(json, "devices", '[');
	EACH(device, list->device, list->count) {
		json_open(json, NULL, '{');
		json_string(json, "name", device->name);
		json_string(json, "driver", device->driver);
		json_string(json, "firmware", device->firmware);
		json_bool(json, "opened", device->opened);
		json_string(json, "error", device->err ? strerror(device->err) : NULL);
		if (device->err) {
			json_string(json, "xrc", NULL);
			json_string(json, "open_qp", NULL);
		} else {
			json_bool(json, "xrc", device->xrc);
			json_bool(json, "open_qp", device->open_qp);
		}
		print_ports_json(json, device);
		json_close(json, '}');
	}
	json_close(json, ']');
}
