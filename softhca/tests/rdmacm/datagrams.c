/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Datagram ids: the active side asks for the QP of the passive one, and gets it or is refused. */
#include "ground.h"

#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#define PASSIVE_QP 0x654321

static struct rdma_cm_id *new_listener(struct ground *ground)
{
	struct rdma_cm_id *listener = new_id(ground, RDMA_PS_UDP);

	NEED(!rdma_bind_addr(listener, address(THERE, 7400)) && !rdma_listen(listener, 1));
	return listener;
}

/* Sends the request of ground->datagram. Returns the passive id. */
static struct rdma_cm_id *ask_for_qp(struct ground *ground)
{
	struct rdma_conn_param param = { .private_data = "where",
					 .private_data_len = sizeof("where") };
	struct rdma_cm_event *event;
	struct rdma_cm_id *passive;

	resolve(ground, ground->datagram, THERE, 7400);
	NEED(!rdma_connect(ground->datagram, &param));
	event = next_event(ground->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	NEED(event->param.ud.private_data_len == 180 &&
	     !strcmp(event->param.ud.private_data, "where"));
	passive = event->id;
	rdma_ack_cm_event(event);
	return passive;
}

TEST(an_accepted_request_gets_the_qp)
{
	struct rdma_conn_param param = { .qp_num = PASSIVE_QP,
					 .private_data = "here",
					 .private_data_len = sizeof("here") };
	struct rdma_cm_id *listener = new_listener(ground), *passive = ask_for_qp(ground);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct rdma_cm_event *event;
	struct ibv_port_attr port;
	int mask;

	NEED(!rdma_accept(passive, &param));
	event = next_event(ground->channel, RDMA_CM_EVENT_ESTABLISHED);
	NEED(event->param.ud.qp_num == PASSIVE_QP && event->param.ud.qkey == RDMA_UDP_QKEY);
	NEED(!ibv_query_port(passive->verbs, 1, &port));
	NEED(event->param.ud.ah_attr.dlid == port.lid && event->param.ud.ah_attr.port_num == 1);
	NEED(event->param.ud.private_data_len == 136 &&
	     !strcmp(event->param.ud.private_data, "here"));
	rdma_ack_cm_event(event);
	NEED(!rdma_init_qp_attr(ground->datagram, &attr, &mask));
	NEED(mask == (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) &&
	     attr.qkey == RDMA_UDP_QKEY);
	rdma_destroy_id(passive);
	rdma_destroy_id(listener);
}

TEST(a_rejected_request_gets_status_2)
{
	struct rdma_cm_id *listener = new_listener(ground), *passive = ask_for_qp(ground);
	struct rdma_cm_event *event;

	NEED(!rdma_reject(passive, "no", sizeof("no")));
	event = next_event(ground->channel, RDMA_CM_EVENT_UNREACHABLE);
	NEED(event->status == 2 && !strcmp(event->param.ud.private_data, "no"));
	rdma_ack_cm_event(event);
	rdma_destroy_id(passive);
	rdma_destroy_id(listener);
}

TEST(a_request_without_a_listener_gets_status_1)
{
	struct rdma_conn_param param = { 0 };

	resolve(ground, ground->datagram, THERE, 7400);
	NEED(!rdma_connect(ground->datagram, &param));
	NEED(take_event(ground, RDMA_CM_EVENT_UNREACHABLE, NULL) == 1);
}

int main(void)
{
	return ground_run();
}
