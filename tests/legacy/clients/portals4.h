/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Portals4: the connections that it made by librdmacm and its patch, for portals4_cm.c and
 * portals4_rdmacm.c to implement.
 */
#ifndef TESTS_LEGACY_CLIENTS_PORTALS4_H
#define TESTS_LEGACY_CLIENTS_PORTALS4_H

#include <infiniband/verbs.h>

#include "job.h"

/*
 * A connection has a QP, or, if it was created with max_send_wr 0, no qp but the number of a
 * receive QP.
 */
struct connection {
	struct ibv_qp *qp;
	struct ibv_xrc_domain *xrc_domain;
	uint32_t xrc_rcv_qpn;
	int rank, connected;
	uint32_t lid, remote_lid, remote_qpn;	/* by messages of the job */
	struct rdma_cm_id *id;			/* by librdmacm */
};

/* Opens and closes the host's device. */
struct ibv_context *conn_open_hca(void);
void conn_close_hca(struct ibv_context *context);

/* For the connection to the main rank of the other host, in this order. */
void conn_resolve(struct connection *sending, int rank);
void conn_create_qp(struct connection *conn, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
void conn_request(struct connection *sending);

/*
 * Waits for a request, which is then in accepted[], and returns its rank; or returns -1 when
 * sending is established.
 */
int conn_next(struct connection *sending, struct connection *accepted);
void conn_accept(struct connection *conn);

void conn_disconnect(struct connection *conn);
void conn_destroy_qp(struct connection *conn);

#endif
