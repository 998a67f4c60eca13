/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The device of the job's host, for clients that are linked with libibverbs. */
#ifndef TESTS_LEGACY_CLIENTS_HCA_H
#define TESTS_LEGACY_CLIENTS_HCA_H

#include <infiniband/verbs.h>

#include "job.h"

/* Opens it; *lid is its first port's. Ends the process if this host has none. */
static inline struct ibv_context *hca_open(uint32_t *lid)
{
	struct ibv_port_attr port;
	struct ibv_context *context;
	struct ibv_device **list;
	int count = 0;

	list = must(ibv_get_device_list(&count), "ibv_get_device_list");
	if (count <= job.host)
		job_die("%d devices, but one is needed for each host", count);
	context = must(ibv_open_device(list[job.host]), "ibv_open_device");
	ibv_free_device_list(list);
	must_be_0(ibv_query_port(context, 1, &port), "ibv_query_port");
	*lid = port.lid;
	return context;
}

/* Waits for an event of this channel, acknowledges it, and asks for the next one. */
static inline void hca_wait_for_event(struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq;
	void *context;

	job_wait_readable(channel->fd);
	must_be_0(ibv_get_cq_event(channel, &cq, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	must_be_0(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
}

/* As hca_open(); also checks IBV_DEVICE_XRC, as programs of that time did. */
static inline struct ibv_context *hca_open_with_xrc(uint32_t *lid)
{
	struct ibv_context *context = hca_open(lid);
	struct ibv_device_attr attr;

	must_be_0(ibv_query_device(context, &attr), "ibv_query_device");
	if (!(attr.device_cap_flags & IBV_DEVICE_XRC))
		job_die("the device has no XRC");
	return context;
}

#endif
