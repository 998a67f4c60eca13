/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events: of cancelled threads, which are acknowledged, and of handles that a query opens. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <base/state.h>
#include <compat/device.h>
#include <compat/domain.h>
#include <compat/event.h>
#include <compat/rcv_qp.h>
#include <modern/modern.h>
#include <modern/table.h>

#include <harness/thread_state.h>
#include <harness/unit.h>
#include "../common/provider.h"

static struct ibv_context *context;
static struct legacy_xrc_domain *domain;
static int to_kernel;
static _Atomic int acks;

static void count_ack(struct ibv_async_event *event)
{
	(void)event;
	acks++;
}

static void open_device(void)
{
	int ends[2];

	context = provider_open(0);
	assert_non_null(context);
	assert_int_equal(pipe(ends), 0);
	context->async_fd = ends[0];
	to_kernel = ends[1];
	modern_table.ack_async_event = count_ack;
	acks = 0;
	assert_int_equal(domain_open(context, -1, 0, &domain), 0);
}

static void close_device(void)
{
	close(context->async_fd);
	close(to_kernel);
	assert_int_equal(device_close(context), 0);
}

/* The kernel raises an event on this object of the program. */
static void raise_event(const void *object, enum ibv_event_type type)
{
	const struct ib_uverbs_async_event_desc desc = { .element = (uintptr_t)object,
							 .event_type = type };

	assert_int_equal(write(to_kernel, &desc, sizeof(desc)), sizeof(desc));
}

static void be_cancelled(struct ibv_async_event *event)
{
	pthread_cancel(pthread_self());
	pthread_testcancel();
	count_ack(event);
}

static pid_t reader;

static void *get_and_wait(void *event)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	__atomic_store_n(&reader, gettid(), __ATOMIC_RELAXED);
	event_get(context, event);
	for (;;)
		pause();
	return NULL;
}

/* The thread was cancelled, and one event was acknowledged. */
static void expect_cancelled(pthread_t thread)
{
	void *result;

	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(acks, 1);
	close_device();
}

/* Waits until the event has been read and its translation waits for the lock. */
static void await_translation(void)
{
	int unread = 1;
	pid_t thread;

	do {
		usleep(1000);
		thread = __atomic_load_n(&reader, __ATOMIC_RELAXED);
		assert_int_equal(ioctl(context->async_fd, FIONREAD, &unread), 0);
	} while (!thread || unread || thread_state(thread) != 'S');
}

/*
 * The cancelled thread cannot acknowledge the event. Without the library's acknowledgement
 * ibv_destroy_srq would wait for ever.
 */
TEST(the_event_of_a_thread_cancelled_in_the_translation_is_acknowledged)
{
	struct ibv_srq srq = { 0 };
	struct legacy_async_event event;
	pthread_t thread;

	open_device();
	reader = 0;
	raise_event(&srq, IBV_EVENT_SRQ_LIMIT_REACHED);
	state_lock();
	assert_int_equal(pthread_create(&thread, NULL, get_and_wait, &event), 0);
	await_translation();
	assert_int_equal(pthread_cancel(thread), 0);
	state_unlock();
	expect_cancelled(thread);
}

/* A thread that ended meanwhile would keep its locks. */
TEST(a_cancellation_waits_for_the_translation)
{
	struct legacy_async_event event;
	pthread_t thread;
	uint32_t number;

	open_device();
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	raise_event(rcv_qp_handle(domain, number), IBV_EVENT_COMM_EST);
	modern_table.ack_async_event = be_cancelled;
	assert_int_equal(pthread_create(&thread, NULL, get_and_wait, &event), 0);
	expect_cancelled(thread);
}

/* The kernel raises an event on the handle that a query has opened. The program reads events. */
static void raise_event_of(struct ibv_qp *handle)
{
	struct legacy_async_event event;

	raise_event(handle, IBV_EVENT_COMM_EST);
	assert_int_equal(event_get(context, &event), -EAGAIN);
}

TEST(the_program_gets_no_event_of_a_handle_that_a_query_opens)
{
	struct legacy_qp_init_attr init_attr;
	struct legacy_qp_attr attr;

	open_device();
	assert_int_equal(fcntl(context->async_fd, F_SETFL, O_NONBLOCK), 0);
	provider_queries = raise_event_of;
	assert_int_equal(rcv_qp_query(domain, 0x55, &attr, IBV_QP_STATE, &init_attr), 0);
	provider_queries = NULL;
	assert_int_equal(acks, 1);
	close_device();
}

UNIT_MAIN(NULL, NULL)
