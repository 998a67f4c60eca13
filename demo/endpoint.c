/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the sender and the receivers have in common: a device, a domain, and the messages. */
#include <fcntl.h>
#include <stdlib.h>
#include <time.h>

#include "cluster.h"

#define PORT 1
#define CQ_ENTRIES 64

struct endpoint endpoint;

/* The sender takes the first device, the receivers take the second. */
static void open_device(void)
{
	int devices = 0;
	struct ibv_device **list = ibv_get_device_list(&devices);
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	const char *name;

	if (!list || devices < 2)
		fail("RDMA devices here: %d. The sender and the receivers need one each", devices);
	endpoint.context = MAKE(ibv_open_device, list[self == &cluster->members[SENDER] ? 0 : 1]);
	ibv_free_device_list(list);
	name = ibv_get_device_name(endpoint.context->device);
	DO(ibv_query_device, endpoint.context, &attr);
	if (!(attr.device_cap_flags & IBV_DEVICE_XRC))
		fail("%s cannot do XRC (no IBV_DEVICE_XRC in its capabilities)", name);
	DO(ibv_query_port, endpoint.context, PORT, &port);
	if (port.state != IBV_PORT_ACTIVE)
		fail("port %d of %s is not active", PORT, name);
	DO(ibv_query_gid, endpoint.context, PORT, 0, &self->gid);
	self->lid = port.lid;
}

void endpoint_open(int fd, unsigned int buffers)
{
	size_t size = buffers * MAX_MESSAGE;

	open_device();
	endpoint.pd = MAKE(ibv_alloc_pd, endpoint.context);
	if (cluster->events)
		endpoint.channel = MAKE(ibv_create_comp_channel, endpoint.context);
	endpoint.cq = MAKE(ibv_create_cq, endpoint.context, CQ_ENTRIES, NULL, endpoint.channel, 0);
	if (endpoint.channel)
		DO(ibv_req_notify_cq, endpoint.cq, 0);
	endpoint.domain = MAKE(ibv_open_xrc_domain, endpoint.context, fd, O_CREAT);
	endpoint.memory = MAKE(aligned_alloc, 4096, size);
	endpoint.mr = MAKE(ibv_reg_mr, endpoint.pd, endpoint.memory, size, IBV_ACCESS_LOCAL_WRITE);
}

void endpoint_close(void)
{
	DO(ibv_close_xrc_domain, endpoint.domain);
	DO(ibv_dereg_mr, endpoint.mr);
	DO(ibv_destroy_cq, endpoint.cq);
	if (endpoint.channel)
		DO(ibv_destroy_comp_channel, endpoint.channel);
	DO(ibv_dealloc_pd, endpoint.pd);
	DO(ibv_close_device, endpoint.context);
	free(endpoint.memory);
	reached(PHASE_GONE);
}

static void wait_for_event(void)
{
	struct ibv_cq *cq;
	void *cq_context;

	DO(ibv_get_cq_event, endpoint.channel, &cq, &cq_context);
	ibv_ack_cq_events(cq, 1);
	DO(ibv_req_notify_cq, cq, 0);
}

struct ibv_wc endpoint_wait(void)
{
	struct timespec moment = { .tv_nsec = 50000 };
	struct ibv_wc wc;
	int got;

	while (!(got = ibv_poll_cq(endpoint.cq, 1, &wc))) {
		if (endpoint.channel)
			wait_for_event();
		else
			nanosleep(&moment, NULL);
	}
	if (got < 0)
		fail("ibv_poll_cq returned %d", got);
	return wc;
}

struct ibv_qp_attr init_attr(void)
{
	return (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = PORT };
}

struct ibv_qp_attr rtr_attr(const struct member *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.rq_psn = FIRST_PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 8,	/* 0.16 ms */
		.ah_attr = { .dlid = peer->lid, .port_num = PORT },
	};

	if (!peer->lid) {	/* Ethernet has no LIDs */
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = peer->gid;
		attr.ah_attr.grh.hop_limit = 1;
	}
	return attr;
}

/* The lengths of the messages: short and long ones, and some next to an MTU. */
const uint32_t plan[PLAN_LENGTH] = { 1, 255, 1024, 4096, 4097, 65536, 300001, MAX_MESSAGE };

uint32_t message_key(uint32_t receiver, uint32_t round, uint32_t number)
{
	return receiver << 24 | round << 8 | number;
}

/* A linear congruential generator, so that bytes of another place or message are noticed. */
void message_fill(void *buffer, uint32_t size, uint32_t key)
{
	uint64_t *words = buffer, word = key;

	for (uint32_t i = 0; i < (size + 7) / 8; i++) {
		word = word * 6364136223846793005u + 1442695040888963407u;
		/* The low bits of the word depend on the low bits of the key alone. */
		words[i] = word ^ word >> 32;
	}
}
