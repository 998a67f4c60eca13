/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Events: acknowledgements, and events of threads that are cancelled or leave by siglongjmp(). */

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <compat/device.h>
#include <compat/domain.h>
#include <compat/event.h>
#include <compat/rcv_qp.h>
#include <compat/state.h>
#include <modern/modern.h>
#include <modern/table.h>

#include "../../thread_state.h"
#include "../unit.h"
#include "provider.h"
#include "other_thread.h"

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
	device_use_begin();
	acks = 0;
	assert_int_equal(domain_open(context, -1, 0, &domain), 0);
}

static void close_device(void)
{
	close(context->async_fd);
	close(to_kernel);
	assert_int_equal(device_close(context), 0);
}

static void raise_event(uint32_t number)
{
	const struct ib_uverbs_async_event_desc desc = {
		.element = (uintptr_t)rcv_qp_handle(domain, number),
		.event_type = IBV_EVENT_COMM_EST,
	};

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
	const struct ib_uverbs_async_event_desc desc = {
		.element = (uintptr_t)&srq,
		.event_type = IBV_EVENT_SRQ_LIMIT_REACHED,
	};
	struct legacy_async_event event;
	pthread_t thread;

	open_device();
	reader = 0;
	assert_int_equal(write(to_kernel, &desc, sizeof(desc)), sizeof(desc));
	state_lock();
	assert_int_equal(pthread_create(&thread, NULL, get_and_wait, &event), 0);
	await_translation();
	assert_int_equal(pthread_cancel(thread), 0);
	state_unlock();
	expect_cancelled(thread);
}

static sigjmp_buf out;
static bool jumps, interrupted;
static struct legacy_async_event of_handler;

/* The library calls this read(), too. A signal handler may run right after the kernel's answer. */
ssize_t read(int fd, void *data, size_t size)
{
	ssize_t got = syscall(SYS_read, fd, data, size);

	if (jumps)
		siglongjmp(out, 1);
	if (interrupted) {
		interrupted = false;
		assert_int_equal(event_get(context, &of_handler), 0);
	}
	return got;
}

/* Opens the device with one event; returns the number of its receive QP. */
static uint32_t open_with_one_event(void)
{
	uint32_t number;

	open_device();
	assert_int_equal(fcntl(context->async_fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	raise_event(number);
	return number;
}

static void jump_away(void)
{
	struct legacy_async_event event;

	jumps = true;
	if (!sigsetjmp(out, 1))
		event_get(context, &event);
	jumps = false;
}

static void *jump_and_acknowledge(void *unused)
{
	jump_away();
	event_ack_own();
	pause();
	return unused;
}

/* A thread that ended meanwhile would keep its locks. */
TEST(a_cancellation_waits_for_the_translation_and_for_the_acknowledgement)
{
	void *(*const functions[])(void *event) = { get_and_wait, jump_and_acknowledge };
	struct legacy_async_event event;
	pthread_t thread;

	for (unsigned i = 0; i < 2; i++) {
		open_with_one_event();
		modern_table.ack_async_event = be_cancelled;
		assert_int_equal(pthread_create(&thread, NULL, functions[i], &event), 0);
		expect_cancelled(thread);
	}
}

TEST(the_event_of_a_thread_that_jumped_away_is_not_lost)
{
	struct legacy_async_event event;
	uint32_t number = open_with_one_event();

	jump_away();
	assert_int_equal(event_get(context, &event), 0);
	assert_int_equal(event.element.xrc_qp_num, number);
	close_device();
}

static int count_acks_and_destroy(struct ibv_qp *qp)
{
	assert_int_equal(acks, 1);
	free(qp);
	return 0;
}

static struct ibv_qp *create_after_ack(struct ibv_context *of, struct ibv_qp_init_attr_ex *attr)
{
	assert_int_equal(acks, 1);
	modern_table.create_qp_ex = modern_inline_create_qp_ex;
	return modern_inline_create_qp_ex(of, attr);
}

/* Else ibv_destroy_qp would wait for ever for the event that its own thread has. */
TEST(unregister_acknowledges_the_event_of_its_thread_that_jumped_away)
{
	uint32_t number = open_with_one_event();

	jump_away();
	modern_table.destroy_qp = count_acks_and_destroy;
	assert_int_equal(rcv_qp_unregister(domain, number), 0);
	assert_int_equal(acks, 1);
	close_device();
}

/* Another thread that waits for this event may hold the provider's lock. */
TEST(create_acknowledges_the_event_of_its_thread_that_jumped_away)
{
	uint32_t number;

	open_with_one_event();
	jump_away();
	modern_table.create_qp_ex = create_after_ack;
	assert_int_equal(rcv_qp_create(domain, &number), 0);
	close_device();
}

static uint32_t unregistered;

static int unregister(struct legacy_xrc_domain *of)
{
	return rcv_qp_unregister(of, unregistered);
}

static int destroy_after_ack(struct ibv_qp *qp)
{
	while (!acks)
		usleep(1000);
	free(qp);
	return 0;
}

/* The other thread waits for the event, and this one for the other. */
TEST(a_verb_that_waits_for_unregister_acknowledges_the_event_of_its_thread)
{
	unregistered = open_with_one_event();
	jump_away();
	modern_table.destroy_qp = destroy_after_ack;
	begin_verb(unregister, domain);
	rcv_qp_register(domain, unregistered);
	assert_int_equal(end_verb(), 0);
	close_device();
}

/* The context of the second device has the address of the first. */
TEST(the_event_of_a_thread_that_jumped_away_ends_with_its_device)
{
	struct legacy_async_event event;

	open_with_one_event();
	jump_away();
	close_device();
	assert_int_equal(acks, 1);
	open_device();
	assert_int_equal(fcntl(context->async_fd, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(event_get(context, &event), -EAGAIN);
	close_device();
}

TEST(an_event_that_a_signal_handler_gets_is_not_returned_twice)
{
	struct legacy_async_event event;
	uint32_t number = open_with_one_event();

	interrupted = true;
	assert_int_equal(event_get(context, &event), -EAGAIN);
	assert_int_equal(of_handler.element.xrc_qp_num, number);
	close_device();
}

UNIT_MAIN(NULL, NULL)
