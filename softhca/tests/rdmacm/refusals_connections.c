/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Refusals of queue pairs and connections. */
#include "ground.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_verbs.h>

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
}

static void give_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = qp_attr();

	NEED(!rdma_create_qp(id, NULL, &attr));
}

/* ---- queue pairs and shared receive queues ---- */

static int second_qp(struct ground *ground)
{
	struct ibv_qp_init_attr attr = qp_attr();
	int err;

	give_qp(ground->routed);
	err = error_of(rdma_create_qp(ground->routed, NULL, &attr));
	rdma_destroy_qp(ground->routed);
	return err;
}

static int qp_with_foreign_pd(struct ground *ground)
{
	struct ibv_qp_init_attr attr = qp_attr();

	return error_of(rdma_create_qp(ground->routed, ground->listener->pd, &attr));
}

static int qp_of_unbound(struct ground *ground)
{
	struct ibv_qp_init_attr attr = qp_attr();

	return error_of(rdma_create_qp(ground->idle, ground->routed->pd, &attr));
}

static int qp_too_large(struct ground *ground)
{
	struct ibv_qp_init_attr attr = qp_attr();

	attr.cap.max_send_wr = 1 << 20;
	return error_of(rdma_create_qp(ground->routed, NULL, &attr));
}

/* librdmacm keeps only the last one, so this row destroys the first by itself. */
static int second_srq(struct ground *ground)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *first;
	int err;

	NEED(!rdma_create_srq(ground->routed, NULL, &attr));
	first = ground->routed->srq;
	err = error_of(rdma_create_srq(ground->routed, NULL, &attr));
	if (!err)
		NEED(!ibv_destroy_srq(first));
	rdma_destroy_srq(ground->routed);
	return err;
}

/* ---- connections ---- */

static struct rdma_conn_param *param(uint8_t data_length)
{
	static const char data[256];
	static struct rdma_conn_param one;

	one = (struct rdma_conn_param){ .private_data = data, .private_data_len = data_length };
	return &one;
}

static int connect_with_many_reads(struct ground *ground)
{
	struct rdma_conn_param *many = param(0);

	many->responder_resources = 17;
	return error_of(rdma_connect(ground->routed, many));
}

static int connect_twice(struct ground *ground)
{
	struct rdma_cm_id *child;
	int err;

	give_qp(ground->routed);
	NEED(!rdma_connect(ground->routed, param(56)));
	err = error_of(rdma_connect(ground->routed, param(56)));
	take_event(ground, RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	rdma_destroy_id(child);
	take_event(ground, RDMA_CM_EVENT_REJECTED, NULL);
	rdma_destroy_qp(ground->routed);
	return err;
}

/* Brings one request to the listener. The row uses it. */
static int with_request(struct ground *ground, int (*attempt)(struct rdma_cm_id *child))
{
	struct rdma_cm_id *child;
	int err;

	give_qp(ground->routed);
	NEED(!rdma_connect(ground->routed, param(0)));
	take_event(ground, RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	err = attempt(child);
	rdma_destroy_id(child);
	rdma_destroy_qp(ground->routed);
	return err;
}

static int reject_at_length(struct rdma_cm_id *child)
{
	return error_of(rdma_reject(child, param(149)->private_data, 149));
}

static int accept_at_length(struct rdma_cm_id *child)
{
	return error_of(rdma_accept(child, param(197)));
}

static int accept_rejected(struct rdma_cm_id *child)
{
	NEED(!rdma_reject(child, NULL, 0));
	return error_of(rdma_accept(child, param(0)));
}

static int reject_twice(struct rdma_cm_id *child)
{
	NEED(!rdma_reject(child, NULL, 0));
	return error_of(rdma_reject(child, NULL, 0));
}

static int accept_of_a_peer_that_left(struct ground *ground)
{
	struct rdma_cm_id *child, *id = new_id(ground, RDMA_PS_TCP);
	int err;

	resolve(ground, id, THERE, PORT);
	NEED(!rdma_connect(id, param(0)));
	take_event(ground, RDMA_CM_EVENT_CONNECT_REQUEST, &child);
	rdma_destroy_id(id);
	err = error_of(rdma_accept(child, param(0)));
	rdma_destroy_id(child);
	return err;
}

/* An id without a channel: each call waits for its event and returns the error. */
static int connect_to_nobody(struct ground *ground)
{
	struct rdma_cm_id *id;
	int err;

	(void)ground;
	NEED(!rdma_create_id(NULL, &id, NULL, RDMA_PS_TCP));
	NEED(!rdma_resolve_addr(id, address(HERE, 0), address(THERE, PORT + 4), 20000));
	NEED(!rdma_resolve_route(id, 20000));
	err = error_of(rdma_connect(id, param(0)));
	rdma_destroy_id(id);
	return err;
}

void refusals_of_connections(struct refusals *run)
{
	ROW("second QP", EINVAL, second_qp(ground));
	ROW("QP with another device's PD", EINVAL, qp_with_foreign_pd(ground));
	ROW("QP of an unbound id", EINVAL, qp_of_unbound(ground));
	ROW("QP with too many work requests", EINVAL, qp_too_large(ground));
	ROW("connect without QP", EINVAL, error_of(rdma_connect(ground->routed, NULL)));
	ROW("connect before the route is resolved", EINVAL,
	    error_of(rdma_connect(ground->bound, param(0))));
	ROW("connect with 57 bytes of private data", EINVAL,
	    error_of(rdma_connect(ground->routed, param(57))));
	ROW("connect with more reads than the device has", EINVAL, connect_with_many_reads(ground));
	ROW("connect twice", EINVAL, connect_twice(ground));
	ROW("connect without a listener", ECONNREFUSED, connect_to_nobody(ground));
	ROW("listen twice", EINVAL, error_of(rdma_listen(ground->listener, 4)));
	ROW("listen on a resolved id", EINVAL, error_of(rdma_listen(ground->routed, 4)));
	ROW("listen on an unbound id", 0, error_of(rdma_listen(ground->idle, 4)));
	ROW("accept without a request", EINVAL, error_of(rdma_accept(ground->routed, param(0))));
	ROW("accept with 197 bytes of private data", EINVAL,
	    with_request(ground, accept_at_length));
	ROW("accept after a reject", EINVAL, with_request(ground, accept_rejected));
	ROW("accept of a peer that left", EINVAL, accept_of_a_peer_that_left(ground));
	ROW("reject without a request", EINVAL, error_of(rdma_reject(ground->routed, NULL, 0)));
	ROW("reject with 149 bytes of private data", EINVAL,
	    with_request(ground, reject_at_length));
	ROW("reject twice", EINVAL, with_request(ground, reject_twice));
	ROW("disconnect an id without a connection", EINVAL,
	    error_of(rdma_disconnect(ground->routed)));
	ROW("notify of an id without a connection", EINVAL,
	    error_of(rdma_notify(ground->routed, IBV_EVENT_COMM_EST)));
	ROW("second SRQ", 0, second_srq(ground));
}
