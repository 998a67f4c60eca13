/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The attribute mask with which a test modifies an RC or XRC QP to a state. */
#ifndef E2E_MASK_TO_H
#define E2E_MASK_TO_H

#include "../../abi/rc_masks.h"

static inline int mask_to(enum ibv_qp_state state)
{
	switch (state) {
	case IBV_QPS_INIT:
		return MASK_INIT;
	case IBV_QPS_RTR:
		return MASK_RTR;
	case IBV_QPS_RTS:
		return MASK_RTS;
	default:
		return IBV_QP_STATE;
	}
}

#endif
