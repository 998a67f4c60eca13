/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Handles from ibv_open_qp: how they are ended and reset where the provider itself would crash (provider.h). */
#ifndef MODERN_OPENED_H
#define MODERN_OPENED_H

#include <stdbool.h>
#include <infiniband/verbs.h>

/** opened_detours - what the provider cannot be asked for: PROVIDER_NO_DESTROY_OPENED, PROVIDER_NO_RESET_OPENED. */
unsigned opened_detours(struct ibv_context *context);

#define OPENED_DETOURS 4	/* combinations of the two */

/** opened_endable - whether a handle with these detours can be ended at all: libibverbs must have what they need. */
bool opened_endable(unsigned detours);

/** opened_destroy, opened_modify - the verbs, for a handle with these detours; results as the verbs'. */
int opened_destroy(struct ibv_qp *qp, unsigned detours);
int opened_modify(struct ibv_qp *qp, unsigned detours, struct ibv_qp_attr *attr, int mask);

#endif
