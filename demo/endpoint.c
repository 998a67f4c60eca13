/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An opened device with all that every process of the cluster needs of it. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster.h"

#define CQ_ENTRIES 256

static struct ibv_context *open_device(int number)
{
	struct ibv_context *context;
	struct ibv_device **list;
	int devices = 0;

	list = ibv_get_device_list(&devices);
	if (!list || number >= devices)
		process_fail("device %d was not found", number);
	context = ibv_open_device(list[number]);
	if (!context)
		process_fail("cannot open %s: %s", ibv_get_device_name(list[number]),
			     strerror(errno));
	ibv_free_device_list(list);
	return context;
}

static void learn_address(struct endpoint *endpoint)
{
	struct ibv_port_attr port;
	int err = ibv_query_port(endpoint->context, PORT, &port);

	if (err)
		process_fail("ibv_query_port: %s", strerror(err));
	if (port.state != IBV_PORT_ACTIVE)
		process_fail("port %d of %s is %s, not active", PORT,
			     ibv_get_device_name(endpoint->context->device),
			     ibv_port_state_str(port.state));
	if (ibv_query_gid(endpoint->context, PORT, 0, &endpoint->address.gid))
		process_fail("ibv_query_gid: %s", strerror(errno));
	endpoint->address.lid = port.lid;
	endpoint->mtu = port.active_mtu < IBV_MTU_2048 ? port.active_mtu : IBV_MTU_2048;
}

static void open_cq(struct endpoint *endpoint)
{
	if (endpoint->options->events) {
		endpoint->channel = ibv_create_comp_channel(endpoint->context);
		if (!endpoint->channel)
			process_fail("ibv_create_comp_channel: %s", strerror(errno));
	}
	endpoint->cq = ibv_create_cq(endpoint->context, CQ_ENTRIES, NULL, endpoint->channel, 0);
	if (!endpoint->cq)
		process_fail("ibv_create_cq: %s", strerror(errno));
	if (endpoint->channel && ibv_req_notify_cq(endpoint->cq, 0))
		process_fail("ibv_req_notify_cq failed");
}

static void register_memory(struct endpoint *endpoint, uint32_t size)
{
	if (posix_memalign((void **)&endpoint->memory, 4096, size))
		process_fail("out of memory");
	memset(endpoint->memory, 0, size);
	endpoint->mr = ibv_reg_mr(endpoint->pd, endpoint->memory, size,
				  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!endpoint->mr)
		process_fail("ibv_reg_mr of %u bytes: %s (is the limit of locked memory too low? see ulimit -l)",
			     size, strerror(errno));
}

void endpoint_open(struct endpoint *endpoint, int device, int fd, uint32_t memory_size)
{
	endpoint->context = open_device(device);
	process_opened(endpoint->context);
	learn_address(endpoint);
	endpoint->pd = ibv_alloc_pd(endpoint->context);
	if (!endpoint->pd)
		process_fail("ibv_alloc_pd: %s", strerror(errno));
	open_cq(endpoint);
	endpoint->domain = ibv_open_xrc_domain(endpoint->context, fd, O_CREAT);
	if (!endpoint->domain)
		process_fail("ibv_open_xrc_domain: %s", strerror(errno));
	register_memory(endpoint, memory_size);
}

static void must(const char *verb, int err)
{
	if (err)
		process_fail("%s: %s", verb, strerror(err));
}

void endpoint_close(struct endpoint *endpoint)
{
	must("ibv_close_xrc_domain", ibv_close_xrc_domain(endpoint->domain));
	must("ibv_dereg_mr", ibv_dereg_mr(endpoint->mr));
	must("ibv_destroy_cq", ibv_destroy_cq(endpoint->cq));
	if (endpoint->channel)
		must("ibv_destroy_comp_channel", ibv_destroy_comp_channel(endpoint->channel));
	must("ibv_dealloc_pd", ibv_dealloc_pd(endpoint->pd));
	process_opened(NULL);
	must("ibv_close_device", ibv_close_device(endpoint->context));
	free(endpoint->memory);
}

/* During a round the coordinator sends nothing but CONTROL_ABORT. */
static void heed_coordinator(struct endpoint *endpoint)
{
	struct control control;

	if (control_receive(endpoint->socket, &control, 0))
		process_fail("the coordinator is gone");
	if (control.verb == CONTROL_ABORT)
		process_abandon();
	process_fail("the coordinator said %d in the middle of a round", (int)control.verb);
}

static void take_event(struct endpoint *endpoint)
{
	struct ibv_cq *cq;
	void *cq_context;

	if (ibv_get_cq_event(endpoint->channel, &cq, &cq_context))
		process_fail("ibv_get_cq_event: %s", strerror(errno));
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0))
		process_fail("ibv_req_notify_cq failed");
}

/* Sleeps until there may be a completion: until an event, or in poll mode for a moment. */
static void sleep_a_little(struct endpoint *endpoint)
{
	struct pollfd pollfds[] = {
		{ .fd = endpoint->socket, .events = POLLIN },
		{ .fd = endpoint->channel ? endpoint->channel->fd : -1, .events = POLLIN },
	};
	struct timespec moment = { .tv_nsec = endpoint->channel ? 100000000 : 50000 };

	if (ppoll(pollfds, 2, &moment, NULL) <= 0)
		return;
	if (pollfds[0].revents)
		heed_coordinator(endpoint);
	if (pollfds[1].revents)
		take_event(endpoint);
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

struct ibv_wc endpoint_wait(struct endpoint *endpoint)
{
	time_t deadline = now() + (time_t)endpoint->options->timeout;
	struct ibv_wc wc;
	int got;

	for (;;) {
		got = ibv_poll_cq(endpoint->cq, 1, &wc);
		if (got == 1)
			return wc;
		if (got)
			process_fail("ibv_poll_cq returned %d", got);
		if (now() > deadline)
			process_fail("no completion within %u s", endpoint->options->timeout);
		sleep_a_little(endpoint);
	}
}

static struct ibv_ah_attr route_to(const struct address *peer)
{
	struct ibv_ah_attr route = { .dlid = peer->lid, .port_num = PORT };

	if (!peer->lid) {	/* Ethernet has no LIDs */
		route.is_global = 1;
		route.grh.dgid = peer->gid;
		route.grh.hop_limit = 1;
	}
	return route;
}

struct ibv_qp_attr endpoint_init_attr(int access)
{
	return (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT,
				     .port_num = PORT,
				     .qp_access_flags = access };
}

struct ibv_qp_attr endpoint_rtr_attr(const struct endpoint *endpoint, const struct address *peer)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = endpoint->mtu,
		.dest_qp_num = peer->qp_num,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 8,	/* 0.16 ms */
		.ah_attr = route_to(peer),
	};
}
