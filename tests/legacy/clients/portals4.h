/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Portals4: its own part, and what it had of librdmacm and its patch. */
#ifndef TESTS_LEGACY_CLIENTS_PORTALS4_H
#define TESTS_LEGACY_CLIENTS_PORTALS4_H

#include <infiniband/verbs.h>

#include "job.h"

/* A connection: a QP, or, if max_send_wr was 0, the number of a receive QP and no qp at all. */
struct connection {
	struct ibv_qp *qp;
	struct ibv_xrc_domain *xrc_domain;
	uint32_t xrc_rcv_qpn;
	int rank, connected;
	uint32_t lid, remote_lid, remote_qpn;	/* by messages of the job */
	struct rdma_cm_id *id;			/* by librdmacm */
};

/* The host's device, opened by whoever makes the connections. */
struct ibv_context *conn_open_hca(void);
void conn_close_hca(struct ibv_context *context);

/* sending: to the main rank of the other host. Its QP first, then the request. */
void conn_resolve(struct connection *sending, int rank);
void conn_create_qp(struct connection *conn, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
void conn_request(struct connection *sending);

/* Waits: the rank whose request has come and waits in accepted[], or -1 when sending is established. */
int conn_next(struct connection *sending, struct connection *accepted);
void conn_accept(struct connection *conn);

void conn_disconnect(struct connection *conn);
void conn_destroy_qp(struct connection *conn);

#endif
