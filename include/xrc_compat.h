/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * For programs that are half ported. These functions lead from a legacy object to the object of
 * today's rdma-core behind it, and back.
 *
 * This header does not include <infiniband/verbs.h>, and works with that of OFED 1.x and with
 * today's. Destroy each object by the API that created it. ibv_query_qp of a legacy XRC QP writes
 * OFED's struct ibv_qp_init_attr, which is 8 bytes longer than today's (4 on i386). Every function
 * except xrc_compat_srq() returns NULL with errno EINVAL for an object that does not belong to
 * xrc-compat. All return NULL with errno ENOSYS if no usable libibverbs is installed.
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

/**
 * xrc_compat_xrcd - the struct ibv_xrcd behind a legacy domain; valid until ibv_close_xrc_domain()
 * or ibv_close_device().
 */
struct ibv_xrcd *xrc_compat_xrcd(struct ibv_xrc_domain *domain);

/** xrc_compat_domain - the legacy domain in front of an xrcd that xrc_compat_xrcd() gave. */
struct ibv_xrc_domain *xrc_compat_domain(struct ibv_xrcd *xrcd);

/**
 * xrc_compat_srq - the provider's SRQ behind a legacy XRC SRQ; any other SRQ is returned as it is.
 */
struct ibv_srq *xrc_compat_srq(struct ibv_srq *legacy);

/** xrc_compat_legacy_srq - the legacy SRQ in front of a provider's. */
struct ibv_srq *xrc_compat_legacy_srq(struct ibv_srq *srq);

/**
 * xrc_compat_rcv_qp - the domain's device must have created the receive QP, or have registered with
 * it. Returns the handle that this device has on it, whose qp_num is the number of the QP. The
 * handle is valid until ibv_unreg_xrc_rcv_qp() or ibv_close_device(), which destroy it: do not pass
 * it to ibv_destroy_qp().
 */
struct ibv_qp *xrc_compat_rcv_qp(struct ibv_xrc_domain *domain, uint32_t qp_num);

/**
 * xrc_compat_target_qp - the XRC_RECV QP of a legacy XRC QP that sends and receives; EINVAL for one
 * that only sends. The legacy QP itself is an XRC_SEND QP of today.
 */
struct ibv_qp *xrc_compat_target_qp(struct ibv_qp *legacy);

#ifdef __cplusplus
}
#endif

#endif
