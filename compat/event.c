/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Async events, read and translated.
 *
 * MVAPICH and MVAPICH2 cancel their event thread at any instruction while it sits in
 * ibv_get_async_event. Once the kernel has counted an event as read, ibv_destroy_qp waits until it
 * is acknowledged. So the thread reads as OFED's did, cancellable, but into a thread-local
 * variable. If it is cancelled when the kernel has just answered, the destructor of a key
 * acknowledges the event. pthread_cleanup_push() is not used: if a signal handler jumps away, the
 * cleanup handler stays registered, with a buffer on a stack that is gone.
 */

#include <pthread.h>
#include <signal.h>
#include <string.h>

#include <modern/modern.h>

#include "cancel.h"
#include "event.h"
#include "srq.h"
#include "state.h"
#include "xrc_qp.h"

/* ---- translating ---- */

static bool leaves_qp_in_err(uint32_t type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
	       type == IBV_EVENT_QP_ACCESS_ERR;
}

static void flag_event(struct legacy_async_event *levent, uint32_t qp_num)
{
	memset(&levent->element, 0, sizeof(levent->element));
	levent->element.xrc_qp_num = qp_num;
	levent->event_type |= LEGACY_XRC_QP_EVENT_FLAG;
}

/* False: the program does not get the event. */
static bool translate_qp_event(struct ibv_async_event *event, struct legacy_async_event *levent)
{
	struct modern_event_qp qp = modern_event_qp(event->element.qp);

	if (qp.use == MODERN_TGT_NONE)
		return true;
	if (qp.use == MODERN_TGT_PAIRED)
		levent->element.qp =
			xrc_qp_target_event(event->element.qp, leaves_qp_in_err(event->event_type));
	/* After this, another thread's destroy may free the handle. qp is a copy. */
	modern_ack_async_event(event);
	if (qp.use == MODERN_TGT_REGISTERED)
		flag_event(levent, qp.qp_num);
	return qp.use != MODERN_TGT_TRANSIENT &&
	       (qp.use != MODERN_TGT_PAIRED || levent->element.qp);
}

static void translate_srq_event(struct ibv_async_event *event, struct legacy_async_event *levent)
{
	struct srq_image *image;

	state_lock();
	image = srq_image_of_real(event->element.srq);
	state_unlock();
	if (image)
		levent->element.srq = (struct ibv_srq *)image;
}

static bool translate(struct ibv_async_event *event, struct legacy_async_event *levent)
{
	levent->event_type = event->event_type;
	memcpy(&levent->element, &event->element, sizeof(levent->element));
	switch (modern_event_of(event->event_type)) {
	case MODERN_EVENT_OF_QP:
		return translate_qp_event(event, levent);
	case MODERN_EVENT_OF_SRQ:
		translate_srq_event(event, levent);
		return true;
	default:
		return true;
	}
}

/* ---- reading ---- */

/*
 * While the thread translates or acknowledges an event, signals are blocked and cancellation is
 * off. Both take the lock, which a cancelled thread, or a signal handler that jumps away, would not
 * release.
 */
struct quiet {
	sigset_t signals;
	struct cancel_hold hold;
};

static void quiet_begin(struct quiet *quiet)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &quiet->signals);
	cancel_hold(&quiet->hold);
}

/* Cancellation first: once signals are unblocked, a handler may jump away. */
static void quiet_end(const struct quiet *quiet)
{
	cancel_release(&quiet->hold);
	pthread_sigmask(SIG_SETMASK, &quiet->signals, NULL);
}

#define NOTHING_READ UINT32_MAX

/*
 * The event that the thread has read and the program does not have yet. If a signal handler jumps
 * away, the thread's next call finds it here. Initial-exec as in shim/rdmacm.c.
 */
static __thread struct {
	struct ib_uverbs_async_event_desc desc;
	struct legacy_async_event translated;
	bool is_translated;
	bool watched;	/* the thread's end calls end_of_thread() */
	const struct ibv_context *context;
} reading __attribute__((tls_model("initial-exec"))) = { .desc.event_type = NOTHING_READ };

static struct ibv_async_event take_read(void)
{
	struct ibv_async_event event = modern_async_event(&reading.desc);

	reading.desc.event_type = NOTHING_READ;
	return event;
}

static void ack_own(void)
{
	struct ibv_async_event event;

	if (reading.is_translated)
		event_ack(&reading.translated);
	reading.is_translated = false;
	if (reading.desc.event_type == NOTHING_READ)
		return;
	event = take_read();
	modern_ack_async_event(&event);
}

static bool has_own(void)
{
	return reading.is_translated || reading.desc.event_type != NOTHING_READ;
}

/* The calls for ordinary QPs, which do not turn off cancellation, come here, too. */
void event_ack_own(void)
{
	struct quiet quiet;

	if (!has_own())
		return;
	quiet_begin(&quiet);
	ack_own();
	quiet_end(&quiet);
}

void event_state_wait(void)
{
	if (!has_own()) {
		state_wait();
		return;
	}
	state_unlock();
	event_ack_own();
	state_lock();
}

/* Nothing cancels a thread that ends. */
static void end_of_thread(void *arg)
{
	(void)arg;
	ack_own();
}

static pthread_key_t thread_end;
static bool has_key;

static void make_key(void)
{
	has_key = !pthread_key_create(&thread_end, end_of_thread);
}

/* Without a key or memory, the event of a cancelled thread stays unacknowledged. */
static void watch_thread(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct quiet quiet;

	if (reading.watched)
		return;
	quiet_begin(&quiet);
	pthread_once(&once, make_key);
	reading.watched = has_key && !pthread_setspecific(thread_end, &reading);
	quiet_end(&quiet);
}

/* On success the caller has to call quiet_end(). */
static int read_then_hold(int async_fd, struct quiet *quiet)
{
	int err = 0;

	if (reading.desc.event_type == NOTHING_READ)
		err = modern_read_async_event(async_fd, &reading.desc);
	if (!err)
		quiet_begin(quiet);
	return err;
}

/* A thread that is cancelled meanwhile ends in quiet_end(). */
static int read_and_translate(int async_fd)
{
	struct ibv_async_event event;
	struct quiet quiet;
	int err = read_then_hold(async_fd, &quiet);

	if (err)
		return err;
	/* A signal handler that came right after the read may have taken the event. */
	if (reading.desc.event_type != NOTHING_READ) {
		event = take_read();
		reading.is_translated = translate(&event, &reading.translated);
	}
	quiet_end(&quiet);
	return 0;
}

int event_get(struct ibv_context *context, struct legacy_async_event *levent)
{
	int async_fd = context->async_fd;	/* another thread may close the device meanwhile */
	int err = 0;

	watch_thread();
	if (reading.context != context)
		event_ack_own();
	reading.context = context;
	while (!err && !reading.is_translated)
		err = read_and_translate(async_fd);
	if (err)
		return err;
	*levent = reading.translated;
	reading.is_translated = false;
	return 0;
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
