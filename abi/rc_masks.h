/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The attribute masks of RC's three transitions. Old programs pass them for XRC QPs and receive QPs
 * as well (Open MPI 1.6 xoob, MVAPICH2, GASNet, qperf). The bits of OFED and of today are the same.
 */
#ifndef ABI_RC_MASKS_H
#define ABI_RC_MASKS_H

#include <infiniband/verbs.h>

#define MASK_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define MASK_RTR \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define MASK_RTS \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | \
	 IBV_QP_MAX_QP_RD_ATOMIC)

#endif
