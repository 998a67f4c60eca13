/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Ids of librdmacm between the two emulated devices. */

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>

#include "ids.h"

#define PATIENCE_MS 20000

static struct sockaddr_in address(int device, int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	in.sin_addr.s_addr = htonl(198u << 24 | 18u << 16 | (uint32_t)device << 8 | 1);
	return in;
}

static struct rdma_cm_id *create(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	must(channel);
	must_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	return id;
}

struct rdma_cm_id *ids_bound(int device, int port)
{
	struct sockaddr_in own = address(device, port);
	struct rdma_cm_id *id = create();

	must_eq(rdma_bind_addr(id, (struct sockaddr *)&own), 0);
	must(id->verbs);
	return id;
}

struct rdma_cm_id *ids_listening(void)
{
	struct rdma_cm_id *id = ids_bound(1, PORT);

	must_eq(rdma_listen(id, 1), 0);
	return id;
}

struct rdma_cm_id *ids_event(struct rdma_cm_id *id, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event;

	must_eq(rdma_get_cm_event(id->channel, &event), 0);
	must_eq(event->event, want);
	id = event->id;
	must_eq(rdma_ack_cm_event(event), 0);
	return id;
}

struct rdma_cm_id *ids_resolved(void)
{
	struct sockaddr_in own = address(0, 0), other = address(1, PORT);
	struct rdma_cm_id *id = create();

	must_eq(rdma_resolve_addr(id, (struct sockaddr *)&own, (struct sockaddr *)&other,
				  PATIENCE_MS),
		0);
	ids_event(id, RDMA_CM_EVENT_ADDR_RESOLVED);
	must_eq(rdma_resolve_route(id, PATIENCE_MS), 0);
	ids_event(id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

struct ibv_xrc_domain *ids_domain(struct rdma_cm_id *id)
{
	struct ibv_xrc_domain *domain = ibv_open_xrc_domain(id->verbs, -1, O_CREAT);

	must(domain);
	return domain;
}

struct ibv_qp_init_attr ids_xrc_attr(struct rdma_cm_id *id, struct ibv_xrc_domain *domain)
{
	struct ibv_cq *cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);

	must(cq);
	return (struct ibv_qp_init_attr){
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_XRC, .sq_sig_all = 1,
		.xrc_domain = domain,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
	};
}

struct ibv_wc ids_completion(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (!ibv_poll_cq(cq, 1, &wc))
		poll(NULL, 0, 1);
	must_eq(wc.status, IBV_WC_SUCCESS);
	return wc;
}
