/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions between the old half of a program and its ported half. Neither includes the other's
 * <infiniband/verbs.h>.
 */
#ifndef HALVES_H
#define HALVES_H

#include <stdint.h>

#include <xrc_compat.h>

#define PROGRAM "halves"
#include "../holds.h"

struct ibv_pd;
struct ibv_qp;

/* Fails unless each old object leads to today's object, and back. */
void ported_half(struct ibv_pd *pd, struct ibv_xrc_domain *domain, struct ibv_srq *srq,
		 uint32_t srq_num);

/* The same for a receive QP and an old XRC QP, which is two of today's QPs if two_way is not 0. */
void ported_qps(struct ibv_xrc_domain *domain, uint32_t rcv_qpn, struct ibv_qp *xrc_qp,
		int two_way);

/* Verbs of today on a handle that ibv_reg_xrc_rcv_qp() has opened. */
void ported_handle(struct ibv_xrc_domain *domain, uint32_t rcv_qpn);

#endif
