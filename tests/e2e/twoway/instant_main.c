/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What comes at one certain system call of ibv_get_async_event. libibverbs and the shim reach the program's own read() and
 * poll(), since those come before the C library's.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "end.h"
#include "receiver.h"
#include "row.h"

static int cancel_reader, interrupt_poll;

__attribute__((visibility("default"))) ssize_t read(int fd, void *bytes, size_t size)
{
	ssize_t got = syscall(SYS_read, fd, bytes, size);

	if (got > 0 && __atomic_exchange_n(&cancel_reader, 0, __ATOMIC_RELAXED))
		pthread_cancel(pthread_self());
	return got;
}

/* A cancellation point, as the C library's is one. */
__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t count, int timeout)
{
	const struct timespec limit = { timeout / 1000, timeout % 1000 * 1000000L };

	if (count && !timeout && __atomic_exchange_n(&interrupt_poll, 0, __ATOMIC_RELAXED)) {
		errno = EINTR;
		return -1;
	}
	return ppoll(fds, count, timeout < 0 ? NULL : &limit, NULL);
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

/* Nobody else can acknowledge it, and destroy waits for that. Unlike a receive QP's, an SRQ's event is to be acknowledged. */
static void cancelled_with_an_event(void)
{
	struct end end;
	struct reader reader = { .end = &end };
	pthread_t thread;
	void *result;

	end_open(&end, 0, -1, false);
	must(!pthread_create(&thread, NULL, get_asynchronously_cancellable, &reader));
	__atomic_store_n(&cancel_reader, 1, __ATOMIC_RELAXED);
	inject(0, "srq_limit_reached", end.own.srq_num);
	must(!pthread_join(thread, &result));
	must(result == PTHREAD_CANCELED && !cancel_reader);
	must_eq(reader.got, 0);
	end_close(&end);
}

/* A cancellation that is held off sends its signal all the same, and the signal interrupts a poll() that would not wait. */
static void not_interrupted(void)
{
	struct ibv_async_event event;
	struct end end;

	end_open(&end, 0, -1, false);
	must(!fcntl(end.context->async_fd, F_SETFL, O_NONBLOCK));
	interrupt_poll = 1;
	must_eq(ibv_get_async_event(end.context, &event), -1);
	must(errno == EAGAIN && !interrupt_poll);
	end_close(&end);
}

static const struct row rows[] = {
	{ "cancelled when it has read an event, which counts as acknowledged", cancelled_with_an_event },
	{ "a signal does not interrupt what does not wait", not_interrupted },
};

int main(int argc, char **argv)
{
	return rows_run(ROWS(rows), argc > 1 ? argv[1] : NULL);
}
