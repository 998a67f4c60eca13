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

static int cancel_reader;

__attribute__((visibility("default"))) ssize_t read(int fd, void *bytes, size_t size)
{
	ssize_t got = syscall(SYS_read, fd, bytes, size);

	if (got > 0 && __atomic_exchange_n(&cancel_reader, 0, __ATOMIC_RELAXED))
		pthread_cancel(pthread_self());
	return got;
}

struct reader {
	struct end *end;
	int got;
};

static void *get_asynchronously_cancellable(void *arg)
{
	struct reader *reader = arg;
	struct ibv_async_event event;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	must_eq(ibv_get_async_event(reader->end->context, &event), 0);
	reader->got++;
	ibv_ack_async_event(&event);
	return NULL;
}

/* No other thread can acknowledge this event. Contract 1.3: ibv_destroy_srq waits for that. */
ROW("ibv_destroy_srq does not wait for an event that a cancelled thread has read")
{
	struct end end;
	struct reader reader = { .end = &end };
	pthread_t thread;
	void *result;

	end_open(&end, 0, -1, false);
	must(!pthread_create(&thread, NULL, get_asynchronously_cancellable, &reader));
	__atomic_store_n(&cancel_reader, 1, __ATOMIC_RELAXED);
	inject_event(0, "srq_limit_reached", end.own.srq_num);
	must(!pthread_join(thread, &result));
	must(result == PTHREAD_CANCELED && !cancel_reader);
	must_eq(reader.got, 0);
	end_close(&end);
}
