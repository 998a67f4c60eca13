/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Portals4: its connections, which librdmacm makes. */
#ifndef TESTS_LEGACY_CLIENTS_PORTALS4_H
#define TESTS_LEGACY_CLIENTS_PORTALS4_H

#include <infiniband/verbs.h>

#include "data.h"

/*
 * A connection has a QP, or, if it was created with max_send_wr 0, no qp but the number of a
 * receive QP.
 */
struct connection {
	struct ibv_qp *qp;
	struct ibv_xrc_domain *xrc_domain;
	uint32_t xrc_rcv_qpn;
	int connected;
	struct rdma_cm_id *id;
};

/* Opens and closes the host's device. */
struct ibv_context *conn_open_hca(void);
void conn_close_hca(void);

/* For the connection to the main rank of the other host, in this order. */
void conn_resolve(struct connection *sending);
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
