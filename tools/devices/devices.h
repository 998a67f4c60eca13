/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which RDMA devices there are and whether they can carry old XRC programs. */
#ifndef TOOLS_DEVICES_H
#define TOOLS_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <infiniband/verbs.h>

struct json;

#define PORTS_MAX 8

struct device {
	char name[64];
	char driver[16];	/* "mlx5" */
	char firmware[64];
	int err; /* errno of what failed first: opening, query, XRC domain; or 0 */
	bool opened; /* ibv_open_device() worked */
	bool queried; /* ibv_query_device() worked, too; what follows holds if err is 0 */
	bool kernel_only; /* the kernel says that it has XRC, but the provider has none */
	bool xrc; /* an XRC domain can be opened: it carries legacy programs */
	bool open_qp;	   /* the kernel lets other processes open a receive QP */
	unsigned int ports; /* queried: up to the first that failed, or PORTS_MAX */
	struct ibv_port_attr port[PORTS_MAX];	/* port 1 first */
};

struct device_list {
	size_t count;
	struct device *device;
};

/*
 * Asks the libibverbs at @library (a path, or a name for dlopen()) for its devices, in a process of
 * its own: a driver may crash or hang. Why they could not be listed, or NULL.
 */
const char *devices_read(const char *library, struct device_list *list);

/* Names all that were queried and have no XRC, as "hfi1_0 (hfi1), rxe0 (rxe)". */
const char *devices_without_xrc(const struct device_list *list);

/* What to do where no adapter can do XRC. */
#define DEVICES_BETWEEN_MACHINES \
	"softhca --machines=HOSTFILE, which carries XRC between machines over their network, slower than an adapter: softhca(1)"

/* The driver, the firmware and whether it has XRC, or why that cannot be known. */
const char *device_text(const struct device *device);

/* "ACTIVE", "DOWN"; "InfiniBand", "Ethernet"; "?" for other values. */
const char *port_state_name(enum ibv_port_state state);
const char *port_layer_name(int layer);

/* The member "devices" with all that is known of each. */
void devices_print_json(struct json *json, const struct device_list *list);

#endif
