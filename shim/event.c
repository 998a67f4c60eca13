/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Exported: ibv_get_async_event, ibv_ack_async_event. */

#include <pthread.h>

#include <compat/event/event.h>

#include "shim.h"

static void acknowledge(void *event)
{
	event_ack(event);
}

/* A cancellation that came meanwhile ends the thread here. Nobody else could acknowledge its event, and destroy waits for that. */
static int leave_with_event(const struct entry *entry, struct legacy_async_event *event)
{
	int result;

	pthread_cleanup_push(acknowledge, event);
	result = shim_leave(entry, 0);
	pthread_cleanup_pop(0);
	return result;
}

/*
 * Legacy: a receive QP's event has bit 31 set in its type and the number in the union.
 * Modern: an ordinary event of the handle that a registration holds.
 * Difference: the upper half of the union is zero; the old library left it unwritten. The event of a thread that is cancelled
 * before it has it counts as acknowledged.
 */
SHIM_EXPORT(ibv_get_async_event)
int shim_ibv_get_async_event(struct ibv_context *context, struct legacy_async_event *event)
{
	struct entry entry;
	int err = shim_enter(&entry, VERB_ibv_get_async_event, NULL);

	if (!err)
		err = event_get(context, event, &entry.hold);
	return err ? shim_leave(&entry, err) : leave_with_event(&entry, event);
}

/*
 * Legacy: a flagged event needs no ack.
 * Modern: acknowledged when it was handed out.
 * Difference: a flagged event acknowledged without its flag is ignored; the old library crashed.
 */
SHIM_EXPORT(ibv_ack_async_event)
void shim_ibv_ack_async_event(struct legacy_async_event *event)
{
	struct entry entry;

	if (!shim_enter(&entry, VERB_ibv_ack_async_event, NULL))
		event_ack(event);
	shim_leave(&entry, 0);
}
