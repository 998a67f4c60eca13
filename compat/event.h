/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Async events: a receive QP's have a flag and its number, an XRC SRQ's its image (contract 5.8).
 */
#ifndef COMPAT_EVENT_H
#define COMPAT_EVENT_H

#include <abi/legacy.h>

/*
 * Gets the next event of the device, as old programs know it. -EAGAIN: there is none, and async_fd
 * is non-blocking. Other errors are those of read(2). A thread that waits here holds no lock, and
 * may be cancelled. A signal handler must not leave by siglongjmp(3): a cleanup handler is
 * registered, and an event that was read would be lost.
 *
 * The event of a receive QP counts as acknowledged when it is handed out. The old kernel did not
 * count such events, so programs need not acknowledge them, and unregister must not wait for that.
 */
int event_get(struct ibv_context *context, struct legacy_async_event *event);

/* Acknowledges an event, which does not change. */
void event_ack(const struct legacy_async_event *event);

#endif
