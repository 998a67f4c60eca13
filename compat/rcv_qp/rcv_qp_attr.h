/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Modify and query of a receive QP, by any process that has the domain open.
 */
#ifndef COMPAT_RCV_QP_ATTR_H
#define COMPAT_RCV_QP_ATTR_H

#include <abi/legacy.h>
#include <infiniband/verbs.h>

/** rcv_qp_modify - -EINVAL: no such receive QP in this domain, or mask or transition not allowed. */
int rcv_qp_modify(struct legacy_xrc_domain *ldom, uint32_t qp_num, const struct legacy_qp_attr *attr, int mask);

/**
 * rcv_qp_query - everything the kernel knows, whatever the mask; init_attr as the old libmlx4 filled it (contract 5.5).
 */
int rcv_qp_query(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct legacy_qp_attr *attr, int mask,
		 struct legacy_qp_init_attr *init_attr);

#endif
