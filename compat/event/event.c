/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Async events, translated as they are handed out; the thread can be cancelled only while there is none. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include <modern/modern.h>

#include <compat/base/cancel.h>
#include <compat/srq/srq.h>
#include <compat/xrc_qp/xrc_qp.h>

#include "event.h"

/* Numbers that were handed out in flagged events, so that an ack without the flag is not taken for a QP pointer. */
static struct handle_map flagged;

/* QP numbers have 24 bits; a heap pointer that small is possible in a non-PIE program, hence the map. */
#define QP_NUM_MAX 0xffffffu

static void remember_flagged(uint32_t qp_num)
{
	state_lock();
	/* Out of memory only costs a program that takes the flag off; it crashed on the old stack. */
	handle_add(&flagged, (const void *)(uintptr_t)qp_num, &flagged);
	state_unlock();
}

static bool was_flagged(const void *element)
{
	bool known;

	if ((uintptr_t)element > QP_NUM_MAX)
		return false;
	state_lock();
	known = handle_find(&flagged, element);
	state_unlock();
	return known;
}

static bool leaves_in_err(uint32_t type)
{
	return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR || type == IBV_EVENT_QP_ACCESS_ERR;
}

static void flag(struct legacy_async_event *levent, uint32_t qp_num)
{
	remember_flagged(qp_num);
	memset(&levent->element, 0, sizeof(levent->element));
	levent->element.xrc_qp_num = qp_num;
	levent->event_type |= LEGACY_XRC_QP_EVENT_FLAG;
}

/* False: nobody is to see the event. */
static bool translate_qp_event(struct ibv_async_event *event, struct legacy_async_event *levent)
{
	struct ibv_qp *qp = event->element.qp;
	enum modern_tgt_use use;
	uint32_t qp_num;

	use = modern_tgt_use(qp);
	qp_num = qp->qp_num;
	if (use == MODERN_TGT_NONE) {
		xrc_qp_own_event(qp);
		return true;
	}
	if (use == MODERN_TGT_PAIRED)
		levent->element.qp = xrc_qp_target_event(qp, leaves_in_err(event->event_type));
	/* From here on the handle may be destroyed by the thread that waits for this. */
	modern_ack_async_event(event);
	if (use == MODERN_TGT_REGISTERED)
		flag(levent, qp_num);
	return use != MODERN_TGT_TRANSIENT && (use != MODERN_TGT_PAIRED || levent->element.qp);
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

/*
 * The next one that is the application's, if there is one; else -EAGAIN.
 *
 * Not cancellable: both MVAPICHes cancel their event thread asynchronously while it sits in ibv_get_async_event. Once
 * the kernel has counted an event as read, losing it would make the destroy of its object wait for ever.
 */
static int next_event(struct event_source *source, struct ibv_context *context, struct legacy_async_event *levent)
{
	struct ibv_async_event event;
	int err;

	do {
		err = modern_get_async_event(source, context, &event);
	} while (!err && !translate(&event, levent));
	return err;
}

/*
 * What a thread does to itself, and not while it waits. Open MPI prints a backtrace on some of these, debugging aids on all,
 * with handlers that nobody means to come back from.
 */
static bool is_fault(int number)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };

	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (number == faults[i])
			return true;
	return false;
}

/*
 * Old programs waited in read(), which goes on after a handler that was installed with SA_RESTART; poll() never does.
 * Which handler it was nobody knows: the wait ends only if there is one at all that was meant to end it.
 */
static bool interrupts(void)
{
	struct sigaction action;

	for (int number = 1; number < NSIG; number++) {
		if (is_fault(number) || sigaction(number, NULL, &action) || action.sa_flags & SA_RESTART)
			continue;
		if (action.sa_flags & SA_SIGINFO || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN))
			return true;
	}
	return false;
}

/*
 * Nothing of ours is held here: this is where event threads are cancelled. A handler of one shot (SA_RESETHAND, System V's
 * signal()) can be seen only before it has run.
 */
static int await_event(int fd, struct cancel_hold *hold)
{
	bool one_does;
	int ready;

	do {
		one_does = interrupts();
		cancel_release(hold);
		ready = modern_await_async_event(fd, true);
		cancel_hold(hold);
	} while (ready == -EINTR && !one_does && !interrupts());
	return ready < 0 ? ready : 0;
}

static bool blocking(int fd)
{
	return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* Another thread may close the device during the wait: then the context is gone. */
int event_get(struct ibv_context *context, struct legacy_async_event *levent, struct cancel_hold *hold)
{
	int fd = context->async_fd, err;
	struct event_source *source = modern_event_source(context);

	do {
		err = blocking(fd) ? await_event(fd, hold) : 0;
		if (!err)
			err = next_event(source, context, levent);
	} while (err == -EAGAIN && blocking(fd));
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
	if (modern_event_of(event.event_type) == MODERN_EVENT_OF_QP &&
	    (was_flagged(event.element.qp) || xrc_qp_ack_owed(event.element.qp)))
		return;
	modern_ack_async_event(&event);
}
