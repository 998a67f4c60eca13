/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Modify and query of a receive QP: by whoever has the domain open, on the handle, or through the process that owns it.
 */
#ifndef COMPAT_RCV_QP_ATTR_H
#define COMPAT_RCV_QP_ATTR_H

#include <abi/legacy.h>

/** rcv_qp_modify - -EINVAL: no such receive QP in this domain, or mask or transition not allowed. */
int rcv_qp_modify(struct legacy_xrc_domain *ldom, uint32_t qp_num, const struct legacy_qp_attr *attr, int mask);

/**
 * rcv_qp_query - everything the kernel knows, whatever the mask; init_attr as the old libmlx4 filled it (contract 5.5).
 */
int rcv_qp_query(struct legacy_xrc_domain *ldom, uint32_t qp_num, struct legacy_qp_attr *attr, int mask,
		 struct legacy_qp_init_attr *init_attr);

/** rcv_qp_answer - a modify or query asked for by another process; runs in the serving thread. */
int rcv_qp_answer(void *core, uint32_t qp_num, const void *request, size_t request_len, void *answer,
		  size_t *answer_len);

#endif
