/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The beginning of the benchmarks' old programs, which all use the first device. */
#ifndef BENCH_OLD_PROGRAM_H
#define BENCH_OLD_PROGRAM_H

#include <fcntl.h>
#include <infiniband/verbs.h>

#include "measure.h"

static inline struct ibv_context *open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context;

	need(list != NULL, "ibv_get_device_list");
	errno = ENODEV; /* if the list is empty */
	context = list[0] ? ibv_open_device(list[0]) : NULL;
	need(context != NULL, "opening a device");
	return context;
}

static inline struct ibv_xrc_domain *open_domain(struct ibv_context *context, int fd)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(context, fd, O_CREAT);

	need(domain != NULL, "no XRC domain");
	return domain;
}

#endif
