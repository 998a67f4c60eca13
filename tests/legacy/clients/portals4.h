/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Portals4: its own part, and what it had of the patched librdmacm. */
#ifndef TESTS_LEGACY_CLIENTS_PORTALS4_H
#define TESTS_LEGACY_CLIENTS_PORTALS4_H

#include <infiniband/verbs.h>

#include "job.h"

/* What the patch keeps of a connection: a QP, or, if max_send_wr was 0, the number of a receive QP and no qp at all. */
struct rdma_cm_id {
	struct ibv_qp *qp;
	struct ibv_xrc_domain *xrc_domain;
	uint32_t xrc_rcv_qpn;
	uint32_t lid, remote_lid, remote_qpn;
	int connected;
};

enum cm_type {
	CM_CONNECT_REQUEST = 1,
	CM_CONNECT_RESPONSE
};

struct cm_msg {
	uint32_t type, lid, qpn;
};

void rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
void rdma_connect(struct rdma_cm_id *id, int rank);
/* The rest of rdma_connect, once the response is there. */
void rdma_establish(struct rdma_cm_id *id, const struct cm_msg *response);
void rdma_accept(struct rdma_cm_id *id, int rank, const struct cm_msg *request);
void rdma_disconnect(struct rdma_cm_id *id);
void rdma_destroy_qp(struct rdma_cm_id *id);

#endif
