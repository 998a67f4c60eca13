/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A child that checks whether the machine can run the cluster. It makes the first XRC call, so that
 * without the functions the loader complains once, and not in every process of the cluster.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"

static void check_device(struct ibv_device *device)
{
	struct ibv_device_attr attr;
	struct ibv_xrc_domain *domain;
	struct ibv_context *context = ibv_open_device(device);
	int err;

	if (!context)
		process_fail("cannot open %s: %s", ibv_get_device_name(device), strerror(errno));
	err = ibv_query_device(context, &attr);
	if (err)
		process_fail("ibv_query_device of %s: %s", ibv_get_device_name(device),
			     strerror(err));
	if (!(attr.device_cap_flags & IBV_DEVICE_XRC))
		process_fail("%s cannot do XRC (no IBV_DEVICE_XRC in its capabilities)",
			     ibv_get_device_name(device));
	domain = ibv_open_xrc_domain(context, -1, O_CREAT);
	if (!domain)
		process_fail("%s has no XRC domain for us: %s", ibv_get_device_name(device),
			     strerror(errno));
	if (ibv_close_xrc_domain(domain) || ibv_close_device(context))
		process_fail("cannot close %s", ibv_get_device_name(device));
}

void probe_run(const struct options *options)
{
	struct ibv_device **list;
	int devices = 0;

	process_name("probe");
	process_step("looking at the devices", options->timeout + 2);
	list = ibv_get_device_list(&devices);
	if (!list)	/* ENOSYS: the kernel has no RDMA support loaded */
		process_fail("there is no RDMA device here: ibv_get_device_list: %s",
			     strerror(errno));
	if (!devices)
		process_fail("there is no RDMA device here");
	if (devices <= RECEIVER_DEVICE)
		process_fail("there is one RDMA device, %s; the sender and the receivers need one each",
			     ibv_get_device_name(list[0]));
	check_device(list[SENDER_DEVICE]);
	check_device(list[RECEIVER_DEVICE]);
	ibv_free_device_list(list);
	exit(0);
}
