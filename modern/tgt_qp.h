/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the verbs on any QP ask of a handle: is it an opened one. */
#ifndef MODERN_TGT_QP_H
#define MODERN_TGT_QP_H

#include <stdbool.h>
#include <infiniband/verbs.h>

/** tgt_qp_is_opened - whether it is an opened handle of ours, which the provider must not see (opened_qp.h). */
bool tgt_qp_is_opened(const struct ibv_qp *qp);

#endif
