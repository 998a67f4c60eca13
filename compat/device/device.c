/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The end of an opened device. */

#include <errno.h>

#include <modern/modern.h>

#include <compat/core/ops.h>
#include <compat/core/state.h>
#include <compat/domain/domain.h>
#include <compat/rcv_qp/rcv_qp.h>
#include <compat/srq/srq.h>
#include <compat/xrc_qp/xrc_qp.h>

#include "device.h"
#include "own_qp.h"

int device_close(struct ibv_context *context)
{
	if (!context)
		return -EINVAL;
	/* First ours: once the real close is done another thread may get the same address for a new device. */
	state_lock();
	srq_forget_context(context);
	xrc_qp_forget_context(context);
	own_qp_forget_context(context);
	ops_forget_context(context);
	state_unlock();
	rcv_qp_end_context(context);
	domain_end_context(context);
	return modern_close_device(context);
}
