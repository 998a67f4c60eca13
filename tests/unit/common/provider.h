/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A provider without hardware: its receive QPs are memory only. */
#ifndef TESTS_UNIT_PROVIDER_H
#define TESTS_UNIT_PROVIDER_H

#include <stdint.h>
#include <infiniband/verbs.h>

/* Opens device @n, 0 or 1, whose context is static. NULL: no libibverbs. */
struct ibv_context *provider_open(unsigned n);

/* The ibv_create_qp and the ibv_destroy_qp that provider_open() puts into modern_table. */
struct ibv_qp *provider_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int provider_destroy_qp(struct ibv_qp *qp);

/* The number of the next QP that is created. */
extern uint32_t provider_next_qp;

/* Called by ibv_close_xrcd, which returns its result; NULL: returns 0. */
extern int (*provider_closes_xrcd)(void);

/* Called by a query of an opened handle, unless it is NULL. */
extern void (*provider_queries)(struct ibv_qp *handle);

#endif
