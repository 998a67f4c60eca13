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

/* ---- a domain that two contexts share, and a sender that reaches both ---- */

#define XRC_BYTES 64u

/* A sender on device 0, and on device 1 a target with two contexts ("processes") in one domain. */
struct xrc_stage {
	struct host *sender, *one, *two;
	int fd;
	struct ibv_xrcd *xrcd1, *xrcd2;
	struct ibv_srq *srq1, *srq2;
	struct ibv_qp *send, *target, *opened;
};

/* Makes all objects, and connects them. */
struct xrc_stage xrc_stage(void);

/* A request of XRC_BYTES from the sender's buffer to an SRQ. */
struct ibv_send_wr xrc_wr(struct xrc_stage *s, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
			  struct ibv_srq *srq);

/*
 * Sends to an SRQ of the host. The sender gets this status; if it is success, the host gets the
 * message.
 */
bool xrc_send(struct xrc_stage *s, struct ibv_srq *srq, struct host *host,
	      enum ibv_wc_status status);

#endif
