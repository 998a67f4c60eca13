/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Waits on many descriptors, with naps much shorter than a millisecond. */
#include "loop.h"

#include <portable/kernel.h>

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* More than are ever ready at once: a process' end must not be served after a later request. */
#define MAX_EVENTS 4096

static int epoll_fd = -1;
static struct epoll_event events[MAX_EVENTS];

int loop_init(void)
{
	/* The default slack of 50 us would more than double the latency of every message. */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return epoll_fd < 0 ? -errno : 0;
}

/* Tests of single modules have no loop, and need none. */
int loop_watch(int fd, uint32_t wanted, struct watch *watch)
{
	struct epoll_event event = { .events = wanted, .data.ptr = watch };

	if (epoll_fd < 0)
		return 0;
	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void loop_forget(int fd)
{
	if (epoll_fd >= 0)
		epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

int loop_watch_process(pid_t pid, struct watch *watch)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	int err = fd < 0 ? -errno : loop_watch(fd, EPOLLIN, watch);

	watch->ends = EPOLLIN;
	if (!err)
		return fd;
	if (fd >= 0)
		close(fd);
	return err;
}

static bool ends(const struct epoll_event *event)
{
	return event->events & ((const struct watch *)event->data.ptr)->ends;
}

/* Number of watches that were called. */
static int call(int count, bool all)
{
	int called = 0;

	for (int i = 0; i < count; i++) {
		struct watch *watch = events[i].data.ptr;

		if (!all && !ends(&events[i]))
			continue;
		watch->ready(watch, events[i].events);
		called++;
	}
	return called;
}

void loop_wait(uint64_t nanoseconds)
{
	struct timespec timeout = { (time_t)(nanoseconds / 1000000000u),
				    (long)(nanoseconds % 1000000000u) };
	int count = epoll_pwait2(epoll_fd, events, MAX_EVENTS,
				 nanoseconds == UINT64_MAX ? NULL : &timeout, NULL);

	/* The others stay ready until the next call. */
	if (!call(count, false))
		call(count, true);
}
