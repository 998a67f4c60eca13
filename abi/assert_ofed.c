/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The frozen header agrees with the measured layouts and with legacy.h, for the ABI of the build.
 *
 * One file cannot include both. So assert_legacy.c compares legacy.h with the reference dump, and
 * this file compares the frozen header with the same dump.
 */
#include <infiniband/driver.h>

#include <abi/layout_ofed.h>

/* Numbers of contract 4. */
_Static_assert(IBV_QPT_RC == 2 && IBV_QPT_UC == 3 && IBV_QPT_UD == 4, "QP types 2 to 4");
_Static_assert(IBV_QPT_XRC == 5, "the type that today has no name");
_Static_assert(IBV_QPT_RAW_ETH == 8, "type 8");
_Static_assert((unsigned int)IBV_XRC_QP_EVENT_FLAG == 0x80000000u, "bit 31 of the event type");
_Static_assert(IBV_DEVICE_XRC == 1 << 20, "device capability bit 20");
_Static_assert(IBV_EVENT_CQ_ERR == 0 && IBV_EVENT_SRQ_LIMIT_REACHED == 15 &&
		       IBV_EVENT_GID_CHANGE == 18,
	       "event types");
_Static_assert(IBV_QPS_RESET == 0 && IBV_QPS_ERR == 6, "QP states");
_Static_assert(IBV_WC_RETRY_EXC_ERR == 12 && IBV_WC_GENERAL_ERR == 21, "completion status");
_Static_assert(IBV_WC_RECV == 128 && IBV_WC_RECV_RDMA_WITH_IMM == 129, "completion opcodes");
_Static_assert(IBV_QP_DEST_QPN == 1 << 20 && IBV_QP_MAX_DEST_RD_ATOMIC == 1 << 17,
	       "attribute masks");
_Static_assert(IBV_WR_SEND == 2 && IBV_WR_ATOMIC_FETCH_AND_ADD == 6, "work request opcodes");
