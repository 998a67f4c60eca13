/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Objects that come and go while async events are read.
 *
 * ibv_get_async_event blocks in read(2) when there is no event. One can ask beforehand whether there is one, but a destroy may
 * take it in between. So no event of a device is read while an object of the device is being destroyed; then a reader that
 * finds the device's file readable can read at once.
 *
 * The kernel may raise events on a handle before ibv_open_qp has filled the handle in. So none is read while a QP is being
 * opened, either. Everything else that makes an object holds reading up, too, because of forks (modern_events_forking).
 */
#ifndef MODERN_EVENT_H
#define MODERN_EVENT_H

#include <infiniband/verbs.h>

struct event_source;

/**
 * event_hold_reading - no event of the device is read until event_let_read(). Many threads may hold it.
 * event_hold_reading_of - the same, for object's end: all its events that were read are acknowledged, so that the provider
 * has nothing to wait for. Waits for the acknowledgements before.
 */
struct event_source *event_hold_reading(const struct ibv_context *context);
struct event_source *event_hold_reading_of(const struct ibv_context *context, const void *object);
void event_let_read(struct event_source *source);

/** event_forget - the device is being closed. */
void event_forget(const struct ibv_context *context);

#endif
