/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: ibv_get_async_event, ibv_ack_async_event. */
#include <compat/event.h>
#include <modern/table.h>

#include "shim.h"

/* Does not call shim_enter(): the thread may be cancelled while it reads. */
static NOT_ORDINARY int get_async_event(struct ibv_context *context,
					struct legacy_async_event *event)
{
	int saved_errno = errno;

	if (!shim_is_ready())
		return shim_refuse(VERB_ibv_get_async_event);
	if (program_is_ordinary())
		return modern_table.get_async_event(context, (struct ibv_async_event *)event);
	return errmap_return(VERB_ibv_get_async_event, event_get(context, event), saved_errno);
}

/*
 * Legacy: a receive QP's event has bit 31 set in its type and the number in the union.
 * Modern: an ordinary event of the handle that a registration holds.
 * Difference: since Linux 5.8 only the creator of a receive QP gets its events. The upper half of
 * the union is zero. If a thread is cancelled before it gets its event, that one is acknowledged.
 */
int ibv_get_async_event(struct ibv_context *context, struct legacy_async_event *event)
{
	return program_is_ordinary()
		       ? modern_table.get_async_event(context, (struct ibv_async_event *)event)
		       : get_async_event(context, event);
}
SHIM_EXPORT(ibv_get_async_event);

static NOT_ORDINARY void ack_async_event(const struct legacy_async_event *event)
{
	struct entry entry;

	if (!shim_enter(&entry, VERB_ibv_ack_async_event, NULL))
		event_ack(event);
	shim_leave(&entry, 0);
}

/*
 * Legacy: a flagged event needs no ack.
 * Modern: ibv_get_async_event has acknowledged it.
 * Difference: none known.
 */
void ibv_ack_async_event(struct legacy_async_event *event)
{
	if (program_is_ordinary())
		modern_table.ack_async_event((struct ibv_async_event *)event);
	else
		ack_async_event(event);
}
SHIM_EXPORT(ibv_ack_async_event);
