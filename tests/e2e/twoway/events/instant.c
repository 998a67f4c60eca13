/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A cancellation that comes when ibv_get_async_event has read an event. The loader finds the
 * program's read() before the C library's, so the shim calls it.
 */

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../end.h"
#include "../receiver.h"
#include "../../row.h"

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

struct reader {
	struct end *end;
	bool destroys;	/* the end's objects, in a cleanup handler */
	int got;
};

static void clean_up(void *arg)
{
	struct reader *reader = arg;

	if (reader->destroys)
		end_close(reader->end);
}

static void *get_asynchronously_cancellable(void *arg)
{
	struct reader *reader = arg;
	struct ibv_async_event event;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_cleanup_push(clean_up, reader);
	must_eq(ibv_get_async_event(reader->end->context, &event), 0);
	reader->got++;
	ibv_ack_async_event(&event);
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancel_after_read(struct end *end, bool destroys)
{
	struct reader reader = { .end = end, .destroys = destroys };
	pthread_t thread;
	void *result;

	end_open(end, 0, -1, false);
	__atomic_store_n(&after_read, WAITS, __ATOMIC_RELAXED);
	must(!pthread_create(&thread, NULL, get_asynchronously_cancellable, &reader));
	inject_event(0, "srq_limit_reached", end->own.srq_num);
	while (__atomic_load_n(&after_read, __ATOMIC_RELAXED) != HAS_READ)
		usleep(1000);
	must(!pthread_cancel(thread));
	must(!pthread_join(thread, &result));
	must(result == PTHREAD_CANCELED);
	must_eq(reader.got, 0);
}

/* No other thread can acknowledge this event. Contract 1.3: ibv_destroy_srq waits for that. */
ROW("ibv_destroy_srq does not wait for an event that a cancelled thread has read")
{
	struct end end;

	cancel_after_read(&end, false);
	end_close(&end);
}

ROW("a cleanup handler of the cancelled thread destroys the SRQ")
{
	struct end end;

	cancel_after_read(&end, true);
}
