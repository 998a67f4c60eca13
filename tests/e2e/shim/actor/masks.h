/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.9, the legacy column: the rules that XRC QPs and receive QPs have in common. @modify
 * modifies the QP under test. That QP is in RESET, unless the comment of a function names another
 * state.
 */
#ifndef TESTS_E2E_SHIM_MASKS_H
#define TESTS_E2E_SHIM_MASKS_H

#include "calls.h"

typedef struct result modify_fn(const struct ibv_qp_attr *attr, int mask);

/**
 * masks_required - without any one bit of the mask: EINVAL; with all: 0. The QP is in the state
 * before attr.qp_state.
 */
void masks_required(modify_fn *modify, struct ibv_qp_attr attr, int mask);

typedef void masks_rule(modify_fn *modify, const struct actor *peer);

masks_rule masks_optional, masks_foreign, masks_refused_states, masks_error_and_back;

/**
 * masks_ports_of_vectors - ports of address vectors are ignored; port_num and alt_port_num count.
 */
void masks_ports_of_vectors(modify_fn *modify, const struct actor *peer, uint8_t wrong);

#endif
