/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Asynchronous events of a QP. */
#include "qp.h"

void event_qp(struct hca_qp *qp, enum ibv_event_type type)
{
	const bool all = qp->device->machine->settings.open_events;

	list_for_each(struct hca_qp_handle, handle, &qp->handles, peer)
	{
		if (all || !handle->opened)
			handle->async_events +=
				event_async(handle->obj.ctx, handle->user_handle, type);
	}
}
