/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Old objects on the devices of librdmacm's ids. At the beginning of each row `routed` is
 * an id of device 0 with a route to `listener` on device 1.
 */
#ifndef TESTS_E2E_RDMACM_LEGACY_IDS_H
#define TESTS_E2E_RDMACM_LEGACY_IDS_H

#include <rdmacm/ground.h>

#define CONN_PARAM \
	{ .responder_resources = 1, .initiator_depth = 1, .retry_count = 7, .rnr_retry_count = 7 }

struct rdma_cm_id *ids_on_second_device(void);

/* Opens a private domain on an id's device. */
struct ibv_xrc_domain *ids_domain(struct rdma_cm_id *id);

/* Returns attributes for an old XRC QP of a domain, with a CQ of the id's device. */
struct ibv_qp_init_attr ids_xrc_attr(struct rdma_cm_id *id, struct ibv_xrc_domain *domain);

#endif
