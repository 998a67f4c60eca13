/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a receive QP meant: a QP of the kernel's, known by its number alone, that lives while anyone is registered
 * (contract 5.4 to 5.7).
 *
 * A registration belongs to an opened device, is idempotent, and is implicit for the creator. Modify and query need
 * only the domain. The state is always the kernel's: GASNet's processes race to modify one receive QP, and take EINVAL
 * plus a query as "someone else did it".
 */
#ifndef COMPAT_RCV_QP_H
#define COMPAT_RCV_QP_H

#include <abi/legacy.h>

#include <compat/core/state.h>

/** rcv_qp_create - a receive QP in RESET, the caller's device registered. *qp_num: 24 bits, never 0 or 1. */
int rcv_qp_create(struct legacy_xrc_domain *ldom, uint32_t *qp_num);

/** rcv_qp_register - 0 also when registered already. -EINVAL: no such receive QP in this domain. */
int rcv_qp_register(struct legacy_xrc_domain *ldom, uint32_t qp_num);

/** rcv_qp_unregister - -EINVAL when not registered. The last one anywhere ends the QP. Never waits for an ack. */
int rcv_qp_unregister(struct legacy_xrc_domain *ldom, uint32_t qp_num);

/** rcv_qp_handle - this device's own handle on a receive QP it is registered with; NULL: none. */
struct ibv_qp *rcv_qp_handle(const struct legacy_xrc_domain *ldom, uint32_t qp_num);

/**
 * rcv_qp_end_context - unregister all that the device is still registered with, as closing it did. What the kernel does not end
 * now (the device may be gone) it ends with the device. No lock held.
 */
void rcv_qp_end_context(const struct ibv_context *context);

/**
 * rcv_qp_forked - in a forked child: what other threads were opening or closing is not there, and nobody uses the rest.
 * Lock held.
 */
void rcv_qp_forked(void);

/** struct rcv_qp_use - a kernel handle for one modify or query: the registration's own, or one opened for the occasion. */
struct rcv_qp_use {
	struct domain *domain;
	struct rcv_qp *held;	/* NULL: qp was opened for this use */
	struct ibv_qp *qp;
};

/** rcv_qp_begin - -EINVAL: no such receive QP in this domain. rcv_qp_end() after success. */
int rcv_qp_begin(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct rcv_qp_use *use);
void rcv_qp_end(struct rcv_qp_use *use);

#endif
