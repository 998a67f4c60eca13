/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Datagram ids: one asks for the other's queue pair, and gets it or is refused. */
#include "ground.h"

#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#define PASSIVE_QP 0x654321

struct line {
	struct ground ground;
	struct rdma_cm_id *listener, *active, *passive;
};

static void begin(struct line *line, bool listen)
{
	struct ground *ground = &line->ground;

	ground_lay(ground);
	line->listener = new_id(ground, RDMA_PS_UDP);
	line->active = new_id(ground, RDMA_PS_UDP);
	line->passive = NULL;
	if (listen)
		NEED(!rdma_bind_addr(line->listener, address(THERE, 7400)) &&
		     !rdma_listen(line->listener, 1));
	resolve(ground, line->active, THERE, 7400);
}

static void end(struct line *line)
{
	rdma_destroy_id(line->active);
	if (line->passive)
		rdma_destroy_id(line->passive);
	rdma_destroy_id(line->listener);
	ground_clear(&line->ground);
}

static void ask_for_qp(struct line *line)
{
	struct rdma_conn_param param = { .private_data = "where",
					 .private_data_len = sizeof("where") };
	struct rdma_cm_event *event;

	NEED(!rdma_connect(line->active, &param));
	event = next_event(line->ground.channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	NEED(event->param.ud.private_data_len == 180 &&
	     !strcmp(event->param.ud.private_data, "where"));
	line->passive = event->id;
	rdma_ack_cm_event(event);
}

static void datagrams(void)
{
	struct rdma_conn_param param = { .qp_num = PASSIVE_QP,
					 .private_data = "here",
					 .private_data_len = sizeof("here") };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct rdma_cm_event *event;
	struct ibv_port_attr port;
	struct line line;
	int mask;

	begin(&line, true);
	ask_for_qp(&line);
	NEED(!rdma_accept(line.passive, &param));
	event = next_event(line.ground.channel, RDMA_CM_EVENT_ESTABLISHED);
	NEED(event->param.ud.qp_num == PASSIVE_QP && event->param.ud.qkey == RDMA_UDP_QKEY);
	NEED(!ibv_query_port(line.passive->verbs, 1, &port));
	NEED(event->param.ud.ah_attr.dlid == port.lid && event->param.ud.ah_attr.port_num == 1);
	NEED(event->param.ud.private_data_len == 136 &&
	     !strcmp(event->param.ud.private_data, "here"));
	rdma_ack_cm_event(event);
	NEED(!rdma_init_qp_attr(line.active, &attr, &mask));
	NEED(mask == (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) &&
	     attr.qkey == RDMA_UDP_QKEY);
	end(&line);
}

static void datagrams_unwanted(void)
{
	struct rdma_conn_param param = { 0 };
	struct rdma_cm_event *event;
	struct line line;

	begin(&line, true);
	ask_for_qp(&line);
	NEED(!rdma_reject(line.passive, "no", sizeof("no")));
	event = next_event(line.ground.channel, RDMA_CM_EVENT_UNREACHABLE);
	NEED(event->status == 2 && !strcmp(event->param.ud.private_data, "no"));
	rdma_ack_cm_event(event);
	end(&line);

	begin(&line, false);
	NEED(!rdma_connect(line.active, &param));
	event = next_event(line.ground.channel, RDMA_CM_EVENT_UNREACHABLE);
	NEED(event->status == 1);
	rdma_ack_cm_event(event);
	end(&line);
}

int main(void)
{
	datagrams();
	datagrams_unwanted();
	return EXIT_SUCCESS;
}
