/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events of today. */

#include "modern.h"
#include "table.h"

int modern_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
	return modern_status(modern_table.get_async_event(context, event));
}

void modern_ack_async_event(struct ibv_async_event *event)
{
	modern_table.ack_async_event(event);
}
