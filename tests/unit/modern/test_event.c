/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Who may read events, or make and end objects, while others do. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

#include <modern/event.h>
#include <modern/modern.h>

#include "../../thread_state.h"
#include "../unit.h"

static struct ibv_context context;

/* A thread that wants to read an event, or to hold reading up. */
struct wanting {
	bool to_read;
	int err;
	pid_t thread;	/* these two are read while it runs */
	bool done;
};

static void *want(void *arg)
{
	struct wanting *wanting = arg;
	struct ibv_async_event event;

	__atomic_store_n(&wanting->thread, gettid(), __ATOMIC_RELEASE);
	if (wanting->to_read)
		wanting->err = modern_get_async_event(modern_event_source(&context), &context, &event);
	else
		event_let_read(event_hold_reading(&context));
	__atomic_store_n(&wanting->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_done(const struct wanting *wanting)
{
	return __atomic_load_n(&wanting->done, __ATOMIC_ACQUIRE);
}

static bool sleeps(const struct wanting *wanting)
{
	pid_t thread = __atomic_load_n(&wanting->thread, __ATOMIC_ACQUIRE);

	return thread && thread_state(thread) == 'S';
}

/* Returns when the thread waits for the others, or has what it wants. */
static pthread_t start(struct wanting *wanting)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, want, wanting), 0);
	while (!is_done(wanting) && !sleeps(wanting))
		usleep(500);
	return thread;
}

FIXTURE(set_up)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -1;
	context.async_fd = fds[0];	/* an event never comes */
	return 0;
}

/* Many threads that make and end objects would keep a reader out for ever. */
TEST(a_reader_that_waits_is_next)
{
	struct wanting reader = { .to_read = true }, maker = { .to_read = false };
	struct event_source *source = event_hold_reading(&context);
	pthread_t reading = start(&reader), making = start(&maker);
	bool too_early[2] = { is_done(&reader), is_done(&maker) };

	event_let_read(source);
	assert_int_equal(pthread_join(reading, NULL), 0);
	assert_int_equal(pthread_join(making, NULL), 0);
	assert_int_equal(reader.err, -EAGAIN);
	assert_false(too_early[0]);
	assert_false(too_early[1]);
}

TEST(many_make_objects_at_once)
{
	struct event_source *source = event_hold_reading(&context);
	struct wanting maker = { .to_read = false };
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, want, &maker), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	event_let_read(source);
}

TEST(a_closed_device_is_not_read_from)
{
	struct event_source *source = modern_event_source(&context);
	struct ibv_async_event event;

	assert_int_equal(modern_get_async_event(source, &context, &event), -EAGAIN);
	event_forget(&context);
	assert_int_equal(modern_get_async_event(source, &context, &event), -EIO);
}

UNIT_MAIN(set_up, NULL,
	UNIT(a_reader_that_waits_is_next), UNIT(many_make_objects_at_once), UNIT(a_closed_device_is_not_read_from))
