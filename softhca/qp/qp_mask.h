/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Which attributes a QP transition needs and which it allows: the kernel's rules (contract 5.9). */
#ifndef SOFTHCA_QP_MASK_H
#define SOFTHCA_QP_MASK_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

/* @mask without the bits that uverbs removes before ib_core sees it. */
uint32_t qp_mask_kindness(enum ibv_qp_type type, uint32_t mask);

/* ib_core's ib_modify_qp_is_ok(). */
bool qp_mask_ok(enum ibv_qp_state from, enum ibv_qp_state to, enum ibv_qp_type type, uint32_t mask);

#endif
