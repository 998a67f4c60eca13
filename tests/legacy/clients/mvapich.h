/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* MVAPICH 1.x: what mvapich.c and mvapich_cm.c share. */
#ifndef TESTS_LEGACY_CLIENTS_MVAPICH_H
#define TESTS_LEGACY_CLIENTS_MVAPICH_H

#include <infiniband/verbs.h>

#include "data.h"

enum path_phase {
	PATH_NONE,
	PATH_REQUESTED,
	PATH_RTR,
	PATH_READY
};

/* To one host, or, with a private domain, to one process. */
struct path {
	struct ibv_qp *qp_hndl;
	enum path_phase phase;
	uint32_t partner;	/* the rank that holds the other end */
};

struct viadev {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq_hndl;
	struct ibv_xrc_domain *xrc_domain;
	uint32_t lid;
	int hybrid, private_domain;
};

extern struct viadev viadev;

void cm_request(uint32_t rank);
/* Deals with one connection message if there is one. */
void cm_poll(void);
struct path *cm_path(uint32_t rank);
int cm_all_ready(void);
int cm_has_qp(const struct ibv_qp *qp);
void cm_destroy_qps(void);

#endif
