/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A cancellation that comes when ibv_get_async_event has read an event. The shim reaches the
 * program's own read(), since that comes before the C library's.
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

/*
 * No other thread can acknowledge the event, and ibv_destroy_srq waits for the acknowledgement.
 * A program must acknowledge an SRQ's event, but not a receive QP's.
 */
ROW("the event that a cancelled thread has read counts as acknowledged")
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
