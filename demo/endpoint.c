/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The device of a process, with all that every process of the cluster needs of it. */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cluster.h"

#define CQ_ENTRIES 256

struct endpoint endpoint;

/* ---- Whether the machine can run the cluster ---- */

static void check_device(struct ibv_device *device)
{
	const char *name = ibv_get_device_name(device);
	struct ibv_context *context = ibv_open_device(device);
	struct ibv_xrc_domain *domain;
	struct ibv_device_attr attr;

	if (!context)
		process_fail("cannot open %s: %s", name, strerror(errno));
	DO(ibv_query_device, context, &attr);
	if (!(attr.device_cap_flags & IBV_DEVICE_XRC))
		process_fail("%s cannot do XRC (no IBV_DEVICE_XRC in its capabilities)", name);
	domain = ibv_open_xrc_domain(context, -1, O_CREAT);
	if (!domain)
		process_fail("%s has no XRC domain for us: %s", name, strerror(errno));
	DO(ibv_close_xrc_domain, domain);
	DO(ibv_close_device, context);
}

void endpoint_probe(void)
{
	struct ibv_device **list;
	int devices = 0;

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
}

/* ---- Start and end ---- */

static void open_device(int number)
{
	struct ibv_device **list = MAKE(ibv_get_device_list, NULL);

	endpoint.context = MAKE(ibv_open_device, list[number]);
	process_opened(endpoint.context);
	ibv_free_device_list(list);
}

static void learn_address(void)
{
	struct address *address = &endpoint.self->address;
	struct ibv_port_attr port;

	DO(ibv_query_port, endpoint.context, PORT, &port);
	if (port.state != IBV_PORT_ACTIVE)
		process_fail("port %d of %s is %s, not active", PORT,
			     ibv_get_device_name(endpoint.context->device),
			     ibv_port_state_str(port.state));
	DO(ibv_query_gid, endpoint.context, PORT, 0, &address->gid);
	address->lid = port.lid;
	endpoint.mtu = port.active_mtu < IBV_MTU_2048 ? port.active_mtu : IBV_MTU_2048;
}

static void register_memory(uint32_t size)
{
	DO(posix_memalign, (void **)&endpoint.memory, 4096, size);
	memset(endpoint.memory, 0, size);
	endpoint.mr = ibv_reg_mr(endpoint.pd, endpoint.memory, size,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!endpoint.mr)
		process_fail("ibv_reg_mr of %u bytes: %s (is the limit of locked memory too low? see ulimit -l)",
			     size, strerror(errno));
	endpoint.self->address.region = (uintptr_t)endpoint.memory;
	endpoint.self->address.rkey = endpoint.mr->rkey;
}

void endpoint_open(unsigned int member, int fd, uint32_t memory_size)
{
	process_step("opening the device");
	endpoint.self = &cluster->members[member];
	open_device(member == SENDER ? SENDER_DEVICE : RECEIVER_DEVICE);
	learn_address();
	endpoint.pd = MAKE(ibv_alloc_pd, endpoint.context);
	if (cluster->events)
		endpoint.channel = MAKE(ibv_create_comp_channel, endpoint.context);
	endpoint.cq = MAKE(ibv_create_cq, endpoint.context, CQ_ENTRIES, NULL, endpoint.channel, 0);
	if (cluster->events)
		DO(ibv_req_notify_cq, endpoint.cq, 0);
	endpoint.domain = MAKE(ibv_open_xrc_domain, endpoint.context, fd, O_CREAT);
	register_memory(memory_size);
}

void endpoint_close(void)
{
	process_step("closing the device");
	DO(ibv_close_xrc_domain, endpoint.domain);
	DO(ibv_dereg_mr, endpoint.mr);
	DO(ibv_destroy_cq, endpoint.cq);
	if (endpoint.channel)
		DO(ibv_destroy_comp_channel, endpoint.channel);
	DO(ibv_dealloc_pd, endpoint.pd);
	process_opened(NULL);
	DO(ibv_close_device, endpoint.context);
	free(endpoint.memory);
	process_reached(PHASE_GONE);
}

/* ---- Completions ---- */

/* Sleeps until there may be a completion: until an event, or in poll mode for a moment. */
static void sleep_a_little(void)
{
	struct timespec moment = { .tv_nsec = cluster->events ? 100000000 : 50000 };
	struct pollfd pollfd = { .fd = -1, .events = POLLIN };
	struct ibv_cq *cq;
	void *cq_context;

	if (cluster->events)
		pollfd.fd = endpoint.channel->fd;
	if (ppoll(&pollfd, 1, &moment, NULL) <= 0)
		return;
	DO(ibv_get_cq_event, endpoint.channel, &cq, &cq_context);
	ibv_ack_cq_events(cq, 1);
	DO(ibv_req_notify_cq, cq, 0);
}

struct ibv_wc endpoint_wait(void)
{
	struct ibv_wc wc;
	int got;

	process_step("waiting for a completion");
	while (!(got = ibv_poll_cq(endpoint.cq, 1, &wc))) {
		process_go_on();
		sleep_a_little();
	}
	if (got < 0)
		process_fail("ibv_poll_cq returned %d", got);
	return wc;
}

/* ---- Attributes of a QP ---- */

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

struct ibv_qp_attr endpoint_rtr_attr(const struct address *peer)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = endpoint.mtu,
		.dest_qp_num = peer->qp_num,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 8,	/* 0.16 ms */
		.ah_attr = route_to(peer),
	};
}
