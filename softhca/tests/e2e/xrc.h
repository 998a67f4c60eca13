/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* XRC objects over the modern API. Each is NULL, with errno, where its verb refuses. */
#ifndef TEST_SOFTHCA_XRC_H
#define TEST_SOFTHCA_XRC_H

#include "rig.h"

/* The descriptor of a file that no other process has, for a domain. */
int xrc_file(void);

/* @fd -1: a private domain. */
struct ibv_xrcd *xrc_domain(struct host *host, int fd, int oflags);
struct ibv_srq *xrc_srq(struct host *host, struct ibv_xrcd *xrcd, uint32_t max_wr,
			uint32_t max_sge);
struct ibv_qp *xrc_target(struct host *host, struct ibv_xrcd *xrcd);
/* One more handle of a target. */
struct ibv_qp *xrc_open(struct host *host, struct ibv_xrcd *xrcd, uint32_t qpn);

uint32_t xrc_srq_number(struct ibv_srq *srq);

#endif
