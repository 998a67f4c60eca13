/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* A domain that two contexts share, and a sender that reaches both. */
#ifndef TEST_SOFTHCA_XRC_STAGE_H
#define TEST_SOFTHCA_XRC_STAGE_H

#include "rig.h"

/* A sender on device 0, and on device 1 a target with two contexts ("processes") in one domain. */
struct xrc_stage {
	struct host *sender, *one, *two;
	int fd;
	struct ibv_xrcd *xrcd1, *xrcd2;
	struct ibv_srq *srq1, *srq2;
	struct ibv_qp *send, *target, *opened;
};

/* All of it, connected. */
struct xrc_stage xrc_stage(void);

/* NULL, and errno, if refused. */
struct ibv_xrcd *xrc_domain(struct host *host, int fd, int oflags);
struct ibv_srq *xrc_srq(struct host *host, struct ibv_xrcd *xrcd);
struct ibv_qp *xrc_open(struct host *host, struct ibv_xrcd *xrcd, uint32_t qpn);

uint32_t xrc_srq_number(struct ibv_srq *srq);

/* Sends to an SRQ of the host; the sender sees this status, and if it is success the host the message. */
bool xrc_send(struct xrc_stage *s, struct ibv_srq *srq, struct host *host, enum ibv_wc_status status);

/* The host's next asynchronous event is this one; acknowledged. */
bool xrc_event_is(struct host *host, enum ibv_event_type type, struct ibv_qp *qp);

#endif
