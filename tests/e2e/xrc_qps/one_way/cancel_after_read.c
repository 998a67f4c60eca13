/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A cancellation that comes when ibv_get_async_event has read an event. The loader finds the
 * program's read() before the C library's, so the shim calls it.
 */

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "receiver.h"

enum { RETURNS, WAITS, HAS_READ };
static int after_read;

__attribute__((visibility("default"))) ssize_t read(int fd, void *bytes, size_t size)
{
	ssize_t got = syscall(SYS_read, fd, bytes, size);

	if (got > 0 && __atomic_load_n(&after_read, __ATOMIC_RELAXED) == WAITS) {
		__atomic_store_n(&after_read, HAS_READ, __ATOMIC_RELAXED);
		for (;;)
			pause();
	}
	return got;
}

static void no_cleanup(void *unused)
{
	(void)unused;
}

static void destroy_srq(void *unused)
{
	must_eq(ibv_destroy_srq(self.srq), 0);
	self.srq = NULL;
	(void)unused;
}

static void *get_asynchronously_cancellable(void *arg)
{
	void (*clean_up)(void *) = *(void (**)(void *))arg;
	struct ibv_async_event event;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_cleanup_push(clean_up, NULL);
	ibv_get_async_event(self.context, &event);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel_after_read(void (*clean_up)(void *))
{
	pthread_t thread;

	__atomic_store_n(&after_read, WAITS, __ATOMIC_RELAXED);
	thread = start_thread(get_asynchronously_cancellable, &clean_up);
	inject_event(0, "srq_limit_reached", self.own.srq_num);
	while (__atomic_load_n(&after_read, __ATOMIC_RELAXED) != HAS_READ)
		usleep(1000);
	must(!pthread_cancel(thread));
	must(join_thread(thread) == PTHREAD_CANCELED);
}

/* No other thread can acknowledge this event. Contract 1.3: ibv_destroy_srq waits for that. */
ROW("ibv_destroy_srq does not wait for an event that a cancelled thread has read")
{
	cancel_after_read(no_cleanup);
}

ROW("a cleanup handler of the cancelled thread can destroy the SRQ")
{
	cancel_after_read(destroy_srq);
	must(!self.srq);
}
