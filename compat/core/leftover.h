/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Handles on QPs that no program knows of and whose destroy was refused. They would keep their domain busy for ever.
 */
#ifndef COMPAT_LEFTOVER_H
#define COMPAT_LEFTOVER_H

#include <infiniband/verbs.h>

/** leftover_destroy_qp - destroy a handle that was opened or made on the way; if that is refused, it is tried again. */
void leftover_destroy_qp(struct ibv_qp *qp);

/** leftover_retry - try those of the device again, before a domain of it is closed. No lock held. */
void leftover_retry(const struct ibv_context *context);

/** leftover_forget_context - the device is being closed. Lock held. */
void leftover_forget_context(const struct ibv_context *context);

#endif
