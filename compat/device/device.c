/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The end of an opened device. */

#include <errno.h>

#include <modern/modern.h>

#include <compat/core/ops.h>
#include <compat/core/state.h>
#include <compat/domain/domain.h>
#include <compat/event/event.h>
#include <compat/rcv_qp/rcv_qp.h>
#include <compat/srq/srq.h>
#include <compat/xrc_qp/two_way.h>
#include <compat/xrc_qp/xrc_qp.h>

#include "device.h"
#include "fork.h"

void device_use_begin(void)
{
	fork_watch();
	program_note_xrc();
	atomic_store_explicit(&state_used, true, memory_order_release);
}

int device_close(struct ibv_context *context)
{
	if (!context)
		return -EINVAL;
	if (!state_in_use())
		return modern_close_device(context);
	/* First ours: once the real close is done another thread may get the same address for a new device. */
	state_lock();
	srq_forget_context(context);
	xrc_qp_forget_context(context);
	event_forget_context(context);
	ops_forget_context(context);
	state_unlock();
	rcv_qp_end_context(context);
	domain_end_context(context);
	return modern_close_device(context);
}
