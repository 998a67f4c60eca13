/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Portals4: today's librdmacm creates and connects the sending QP. A receive QP for each request,
 * which only the patch of that time made, is created here by the legacy functions, in place of a QP
 * without a send queue. It goes through all states, also to RTS, with rdma_init_qp_attr.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <rdma/rdma_cma.h>

#include "portals4.h"

#define PORT 7471
#define RESOLVE_MS 10000

/* listening gets requests, connecting the events of our own connection. */
static struct rdma_event_channel *listening, *connecting;
static struct rdma_cm_id *listen_id;

/* The address that softhca gives to the host's device. */
static struct sockaddr_in address(int host, int port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	char text[32];

	snprintf(text, sizeof(text), "198.18.%d.1", host);
	inet_pton(AF_INET, text, &in.sin_addr);
	return in;
}

/* The caller acknowledges the event. */
static struct rdma_cm_event *next_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	job_wait_readable(channel->fd);
	must_be_0(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	return event;
}

static void expect(struct rdma_event_channel *channel, enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event = next_event(channel);

	if (event->event != want)
		job_die("%s (%d) where %s was expected", rdma_event_str(event->event),
			event->status, rdma_event_str(want));
	must_be_0(rdma_ack_cm_event(event), "rdma_ack_cm_event");
}

/* librdmacm opens the device itself; an id that is bound to the address has it. */
struct ibv_context *conn_open_hca(void)
{
	struct sockaddr_in own = address(job.host, job.local_rank ? 0 : PORT);

	listening = must(rdma_create_event_channel(), "rdma_create_event_channel");
	connecting = must(rdma_create_event_channel(), "rdma_create_event_channel");
	must_be_0(rdma_create_id(listening, &listen_id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must_be_0(rdma_bind_addr(listen_id, (struct sockaddr *)&own), "rdma_bind_addr");
	if (!job.local_rank)
		must_be_0(rdma_listen(listen_id, JOB_RANKS_MAX), "rdma_listen");
	return must(listen_id->verbs, "the device of the address");
}

void conn_close_hca(void)
{
	must_be_0(rdma_destroy_id(listen_id), "rdma_destroy_id");
	rdma_destroy_event_channel(listening);
	rdma_destroy_event_channel(connecting);
}

void conn_resolve(struct connection *sending)
{
	struct sockaddr_in own = address(job.host, 0), other = address(1 - job.host, PORT);

	must_be_0(rdma_create_id(connecting, &sending->id, sending, RDMA_PS_TCP), "rdma_create_id");
	must_be_0(rdma_resolve_addr(sending->id, (struct sockaddr *)&own, (struct sockaddr *)&other,
				    RESOLVE_MS),
		  "rdma_resolve_addr");
	expect(connecting, RDMA_CM_EVENT_ADDR_RESOLVED);
	must_be_0(rdma_resolve_route(sending->id, RESOLVE_MS), "rdma_resolve_route");
	expect(connecting, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

/* Modifies it as librdmacm modifies its own QPs. */
static void modify_rcv_qp(struct connection *conn, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	int mask, result;

	attr.qp_state = state;
	must_be_0(rdma_init_qp_attr(conn->id, &attr, &mask), "rdma_init_qp_attr");
	result = ibv_modify_xrc_rcv_qp(conn->xrc_domain, conn->xrc_rcv_qpn, &attr, mask);
	if (result)
		job_die("ibv_modify_xrc_rcv_qp to state %d: %s", state, strerror(result));
}

/*
 * The patch passed attr on to ibv_create_xrc_rcv_qp as it was, with CQs, SRQ and capacities, which
 * mean nothing there.
 */
void conn_create_qp(struct connection *conn, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	conn->xrc_domain = attr->xrc_domain;
	if (attr->cap.max_send_wr) {
		must_be_0(rdma_create_qp(conn->id, pd, attr), "rdma_create_qp");
		conn->qp = must(conn->id->qp, "the QP of the id");
		return;
	}
	must_be_0(ibv_create_xrc_rcv_qp(attr, &conn->xrc_rcv_qpn), "ibv_create_xrc_rcv_qp");
	modify_rcv_qp(conn, IBV_QPS_INIT);
}

static struct rdma_conn_param parameters(const int *rank)
{
	return (struct rdma_conn_param){
		.private_data = rank, .private_data_len = sizeof(*rank),
		.responder_resources = 4, .initiator_depth = 4, .retry_count = 7,
		.rnr_retry_count = 7,
	};
}

void conn_request(struct connection *sending)
{
	struct rdma_conn_param param = parameters(&job.rank);

	must_be_0(rdma_connect(sending->id, &param), "rdma_connect");
}

/* Returns the rank that asks, or -1 if an earlier request was established. */
static int take_request(struct connection *accepted)
{
	struct rdma_cm_event *event = next_event(listening);
	int rank = -1;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
		if (event->param.conn.private_data_len < sizeof(rank))
			job_die("a request of %d bytes", event->param.conn.private_data_len);
		memcpy(&rank, event->param.conn.private_data, sizeof(rank));
		accepted[rank].id = event->id;
	} else if (event->event != RDMA_CM_EVENT_ESTABLISHED) {
		job_die("%s (%d) where requests come", rdma_event_str(event->event), event->status);
	}
	must_be_0(rdma_ack_cm_event(event), "rdma_ack_cm_event");
	return rank;
}

int conn_next(struct connection *sending, struct connection *accepted)
{
	struct pollfd fds[] = { { listening->fd, POLLIN, 0 }, { connecting->fd, POLLIN, 0 } };
	int rank;

	for (;;) {
		if (poll(fds, 2, 10) > 0 && fds[1].revents) {
			expect(connecting, RDMA_CM_EVENT_ESTABLISHED);
			sending->connected = 1;
			return -1;
		}
		rank = fds[0].revents ? take_request(accepted) : -1;
		if (rank >= 0)
			return rank;
		job_idle();
	}
}

void conn_accept(struct connection *conn)
{
	struct rdma_conn_param param = parameters(&job.rank);

	modify_rcv_qp(conn, IBV_QPS_INIT);
	modify_rcv_qp(conn, IBV_QPS_RTR);
	modify_rcv_qp(conn, IBV_QPS_RTS);
	param.srq = 1;
	param.qp_num = conn->xrc_rcv_qpn;
	must_be_0(rdma_accept(conn->id, &param), "rdma_accept");
	conn->connected = 1;
}

void conn_disconnect(struct connection *conn)
{
	struct ibv_qp_attr attr;

	if (!conn->qp) {
		/* The patch ignored the result, so it may fail, as it does on mlx5. */
		attr.qp_state = IBV_QPS_SQD;
		ibv_modify_xrc_rcv_qp(conn->xrc_domain, conn->xrc_rcv_qpn, &attr, IBV_QP_STATE);
		attr.qp_state = IBV_QPS_ERR;
		must_be_0(ibv_modify_xrc_rcv_qp(conn->xrc_domain, conn->xrc_rcv_qpn, &attr,
						IBV_QP_STATE),
			  "ibv_modify_xrc_rcv_qp to ERR");
	}
	must_be_0(rdma_disconnect(conn->id), "rdma_disconnect");
}

void conn_destroy_qp(struct connection *conn)
{
	if (conn->qp)
		rdma_destroy_qp(conn->id);
	else
		must_be_0(ibv_unreg_xrc_rcv_qp(conn->xrc_domain, conn->xrc_rcv_qpn),
			  "ibv_unreg_xrc_rcv_qp");
	must_be_0(rdma_destroy_id(conn->id), "rdma_destroy_id");
}
