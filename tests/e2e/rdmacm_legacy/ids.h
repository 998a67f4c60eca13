/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Ids of librdmacm between the two emulated devices, for old programs: one connects, the other
 * listens.
 */
#ifndef TESTS_E2E_RDMACM_LEGACY_IDS_H
#define TESTS_E2E_RDMACM_LEGACY_IDS_H

#include <errno.h>

#include <rdma/rdma_cma.h>

#include "../row.h"

#define PORT 7471

#define CONN_PARAM \
	{ .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7 }

/** ids_bound - an id bound to device 0 or 1: id->verbs is that device, opened. */
struct rdma_cm_id *ids_bound(int device, int port);

/** ids_listening - of device 1. ids_resolved - of device 0, with its route to device 1. */
struct rdma_cm_id *ids_listening(void);
struct rdma_cm_id *ids_resolved(void);

/** ids_event - acknowledges the next event, which must be @want. Returns the event's id. */
struct rdma_cm_id *ids_event(struct rdma_cm_id *id, enum rdma_cm_event_type want);

/** ids_domain - opens a private domain on an id's device. */
struct ibv_xrc_domain *ids_domain(struct rdma_cm_id *id);

/** ids_xrc_attr - attributes for an old XRC QP of a domain, with a CQ of the id's device. */
struct ibv_qp_init_attr ids_xrc_attr(struct rdma_cm_id *id, struct ibv_xrc_domain *domain);

/** ids_completion - waits for a successful completion. The row's time limit ends the wait. */
struct ibv_wc ids_completion(struct ibv_cq *cq);

#endif
