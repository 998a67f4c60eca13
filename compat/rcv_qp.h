/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A receive QP is a QP of the kernel's, known by its number alone, that lives while any process is
 * registered (contract 5.4 to 5.7).
 *
 * A registration belongs to an opened device, is idempotent, and is implicit for the creator.
 * Modify and query need only the domain. The library does not remember the state of the QP, it asks
 * the kernel: GASNet's processes race to modify one receive QP, and a process that gets EINVAL
 * queries whether another was faster.
 */
#ifndef COMPAT_RCV_QP_H
#define COMPAT_RCV_QP_H

#include "device_domain.h"

#include <abi/legacy.h>

/* Creates a receive QP in RESET, registered here. *qp_num has 24 bits, and is never 0 or 1. */
int rcv_qp_create(struct legacy_xrc_domain *ldom, uint32_t *qp_num);

/*
 * Returns 0 also when registered already. -EINVAL: no such receive QP in this domain. -EOPNOTSUPP,
 * with a warning: the kernel does not share receive QPs of this device.
 */
int rcv_qp_register(struct legacy_xrc_domain *ldom, uint32_t qp_num);

/*
 * -EINVAL: not registered. The QP ends with its last registration. The call waits only for an event
 * that another thread has read and not returned yet.
 */
int rcv_qp_unregister(struct legacy_xrc_domain *ldom, uint32_t qp_num);

/* -EINVAL: no such receive QP in this domain, or a bad mask or transition. */
int rcv_qp_modify(struct legacy_xrc_domain *ldom, uint32_t qp_num,
		  const struct legacy_qp_attr *attr, int mask);

/* Queries all that the kernel knows; init_attr as by the old libmlx4 (contract 5.5). */
int rcv_qp_query(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct legacy_qp_attr *attr,
		 int mask, struct legacy_qp_init_attr *init_attr);

/* Returns this device's own handle on a receive QP with which it is registered; NULL: none. */
struct ibv_qp *rcv_qp_handle(const struct legacy_xrc_domain *ldom, uint32_t qp_num);

/*
 * Ends all registrations of a domain after domain_take(), when no verb uses them. A registration
 * that the kernel refuses to end, ends when the device is closed. No lock held.
 */
void rcv_qp_end_all(struct device_domain *device_domain);

#endif
