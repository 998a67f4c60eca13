/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What the verbs on any QP ask of a handle: is it one that was opened. */
#ifndef MODERN_TGT_QP_H
#define MODERN_TGT_QP_H

#include <stdbool.h>
#include <infiniband/verbs.h>

/** tgt_qp_opened - whether it is a handle of ours from ibv_open_qp, and which detours (opened.h) it needs. */
bool tgt_qp_opened(const struct ibv_qp *qp, unsigned *detours);

#endif
