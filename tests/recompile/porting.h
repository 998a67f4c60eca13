/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Between the half of a program that is still old and the half that is ported: neither knows the other's header. */
#ifndef PORTING_H
#define PORTING_H

#include <stdint.h>

#include <xrc_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ibv_pd;
struct ibv_qp;

/* Looks behind the old half's objects; 0, or 1 after saying what is wrong. */
int ported_half(struct ibv_pd *pd, struct ibv_xrc_domain *domain, struct ibv_srq *srq, uint32_t srq_num);

/* The same for the QPs: a receive QP, and an old XRC QP, which is two where two_way is not 0. */
int ported_qps(struct ibv_xrc_domain *domain, uint32_t rcv_qpn, struct ibv_qp *xrc_qp, int two_way);

#ifdef __cplusplus
}
#endif

#endif
