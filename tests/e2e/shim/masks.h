/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.9, the legacy column: what is the same for an XRC QP and a receive QP, tried through a function that
 * modifies the one or the other. The QP is in RESET unless said otherwise.
 */
#ifndef TESTS_E2E_SHIM_MASKS_H
#define TESTS_E2E_SHIM_MASKS_H

#include "calls.h"

typedef struct result modify_fn(const struct ibv_qp_attr *attr, int mask);

/** masks_required - EINVAL without any one bit of the mask; with all of them it succeeds. State: the one before. */
void masks_required(modify_fn *modify, struct ibv_qp_attr attr, int mask);

void masks_optional(modify_fn *modify, const struct actor *peer);
void masks_foreign(modify_fn *modify, const struct actor *peer);
void masks_skipped_states(modify_fn *modify, const struct actor *peer);
void masks_error_and_back(modify_fn *modify, const struct actor *peer);

/** masks_ports_of_vectors - address vectors whose ports are wrong: the QP's own and the alternate path's count. */
void masks_ports_of_vectors(modify_fn *modify, const struct actor *peer, uint8_t wrong);

#endif
