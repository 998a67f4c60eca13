/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Async events, read and translated.
 *
 * MVAPICH and MVAPICH2 cancel their event thread asynchronously while it is in ibv_get_async_event.
 * ibv_destroy_qp and ibv_destroy_srq wait until each event that the kernel has counted as read is
 * acknowledged. So the thread reads as OFED's did, cancellable, and a cleanup handler acknowledges
 * an event that the thread was cancelled with. The kernel writes the event where that handler finds
 * it.
 */
#include "event.h"
#include "srq.h"
#include "xrc_qp.h"

#include <base/cancel.h>
#include <modern/modern.h>

#include <pthread.h>
#include <string.h>

/* ---- translating ---- */

static bool leaves_qp_in_err(uint32_t type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
	       type == IBV_EVENT_QP_ACCESS_ERR;
}

/* False: the program does not get the event. */
static bool translate_qp_event(struct ibv_async_event *event, struct legacy_async_event *levent)
{
	uint32_t qp_num;
	enum modern_tgt_use use = modern_tgt_use_of(event->element.qp, &qp_num);

	if (leaves_qp_in_err(event->event_type))
		xrc_qp_fatal_event(event->element.qp);
	if (use == MODERN_TGT_NONE)
		return true;
	if (use == MODERN_TGT_PAIRED)
		levent->element.qp = xrc_qp_target_event(event->element.qp);
	/* The acknowledgement lets another thread's destroy free the handle. */
	modern_ack_async_event(event);
	if (use == MODERN_TGT_REGISTERED) {
		memset(&levent->element, 0, sizeof(levent->element));
		levent->element.xrc_qp_num = qp_num;
		levent->event_type |= LEGACY_XRC_QP_EVENT_FLAG;
	}
	return use != MODERN_TGT_TRANSIENT && (use != MODERN_TGT_PAIRED || levent->element.qp);
}

static bool translate(struct ibv_async_event *event, struct legacy_async_event *levent)
{
	enum modern_event_object object = modern_event_of(event->event_type);
	struct srq_image *image = NULL;

	levent->event_type = event->event_type;
	memcpy(&levent->element, &event->element, sizeof(levent->element));
	if (object == MODERN_EVENT_OF_QP)
		return translate_qp_event(event, levent);
	if (object == MODERN_EVENT_OF_SRQ)
		image = srq_image_of_real(event->element.srq);
	if (image)
		levent->element.srq = (struct ibv_srq *)image;
	return true;
}

/* ---- reading ---- */

#define NOTHING_READ UINT32_MAX

/* An event on its way from the kernel to the program. */
struct reading {
	struct ib_uverbs_async_event_desc desc;
	const struct legacy_async_event *translated;	/* NULL: not yet, desc may have an event */
};

static void ack_when_cancelled(void *arg)
{
	const struct reading *reading = arg;
	struct ibv_async_event event;

	if (reading->translated) {
		event_ack(reading->translated);
	} else if (reading->desc.event_type != NOTHING_READ) {
		event = modern_async_event(&reading->desc);
		modern_ack_async_event(&event);
	}
}

/* Translating takes the lock, which a cancelled thread would not release. */
static void translate_uncancelled(struct reading *reading, struct legacy_async_event *levent)
{
	struct ibv_async_event event;
	struct cancel_hold hold;

	cancel_hold(&hold);
	event = modern_async_event(&reading->desc);
	reading->desc.event_type = NOTHING_READ;
	if (translate(&event, levent))
		reading->translated = levent;
	cancel_release(&hold);
}

int event_get(struct ibv_context *context, struct legacy_async_event *levent)
{
	struct reading reading = { .desc.event_type = NOTHING_READ };
	int async_fd = context->async_fd;	/* another thread may close the device meanwhile */
	int err;

	pthread_cleanup_push(ack_when_cancelled, &reading);
	do {
		err = modern_read_async_event(async_fd, &reading.desc);
		if (!err)
			translate_uncancelled(&reading, levent);
	} while (!err && !reading.translated);
	pthread_cleanup_pop(0);
	return err;
}

void event_ack(const struct legacy_async_event *levent)
{
	struct ibv_async_event event;

	if (levent->event_type & LEGACY_XRC_QP_EVENT_FLAG)
		return;
	event.event_type = levent->event_type;
	memcpy(&event.element, &levent->element, sizeof(event.element));
	if (modern_event_of(event.event_type) == MODERN_EVENT_OF_SRQ)
		event.element.srq = srq_unwrap(event.element.srq);
	modern_ack_async_event(&event);
}
