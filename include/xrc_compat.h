/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For porting step by step: the object of today's rdma-core behind one of the legacy XRC API, and back.
 *
 * Includes with either header before it, <infiniband/verbs.h> of OFED 1.x or of today; needs neither. Objects stay
 * owned by whoever made them: do not destroy with the new API what the old one created, nor the other way round.
 * Every function returns NULL, or 0 where said, with errno EINVAL for an object that is none of ours.
 */
#ifndef XRC_COMPAT_H
#define XRC_COMPAT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_qp;
struct ibv_srq;
struct ibv_xrc_domain;
struct ibv_xrcd;

/** xrc_compat_xrcd - the struct ibv_xrcd behind a legacy domain; valid until ibv_close_xrc_domain(). */
struct ibv_xrcd *xrc_compat_xrcd(struct ibv_xrc_domain *domain);

/** xrc_compat_domain - the legacy domain in front of an xrcd that xrc_compat_xrcd() gave. */
struct ibv_xrc_domain *xrc_compat_domain(struct ibv_xrcd *xrcd);

/** xrc_compat_srq - the provider's SRQ behind a legacy XRC SRQ; an SRQ that is none is returned as it is. */
struct ibv_srq *xrc_compat_srq(struct ibv_srq *legacy);

/** xrc_compat_legacy_srq - the legacy SRQ in front of a provider's. */
struct ibv_srq *xrc_compat_legacy_srq(struct ibv_srq *srq);

/**
 * xrc_compat_rcv_qp - this process's handle on a receive QP it has created or registered with; its number is
 * qp->qp_num, so there is no way back to ask for. NULL with EINVAL too where another process has the only handle.
 */
struct ibv_qp *xrc_compat_rcv_qp(struct ibv_xrc_domain *domain, uint32_t qp_num);

/**
 * xrc_compat_target_qp - the XRC_RECV QP beside a legacy XRC QP that sends and receives; EINVAL for one that only
 * sends. The legacy QP itself is the XRC_SEND QP of today.
 */
struct ibv_qp *xrc_compat_target_qp(struct ibv_qp *legacy);

#ifdef __cplusplus
}
#endif

#endif
