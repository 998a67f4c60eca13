/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events: those of a receive QP have a flag and its number, those of an XRC SRQ its image (contract 1.4, 5.8). */
#ifndef COMPAT_EVENT_H
#define COMPAT_EVENT_H

#include <abi/legacy.h>

/**
 * event_get - the next event of the device, as old programs know it.
 * -EAGAIN: none, on a non-blocking async_fd. -EINTR and the like: as read(2). While it blocks nothing of the library is held: the
 * thread may be cancelled, and a handler of a signal may leave by siglongjmp(3).
 *
 * The event of a receive QP counts as acknowledged when it is handed out: the old kernel did no accounting for it, so
 * programs need not acknowledge it, and unregister must never wait for that.
 */
int event_get(struct ibv_context *context, struct legacy_async_event *event);

/** event_ack - in every form old programs use: flag left as it was, taken off, or put back. The struct is not changed. */
void event_ack(const struct legacy_async_event *event);

/** event_forget_context - the device is being closed. Lock held. */
void event_forget_context(const struct ibv_context *context);

#endif
