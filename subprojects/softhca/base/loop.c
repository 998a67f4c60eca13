/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Waits on many descriptors, with naps much shorter than a millisecond. */
#include "loop.h"

#include <base/kernel.h>

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* One call returns at most so many. It serves ends before requests, but only among these. */
#define MAX_EVENTS 4096

static int epoll_fd = -1;
static struct epoll_event events[MAX_EVENTS];

/* An epoll descriptor can itself be polled, and ppoll() takes nanoseconds. */
static int poll_epoll(int epoll, struct epoll_event *ready, int count,
		      const struct timespec *timeout, const sigset_t *mask)
{
	struct pollfd pollfd = { .fd = epoll, .events = POLLIN };
	int err = ppoll(&pollfd, 1, timeout, mask);

	return err > 0 ? epoll_wait(epoll, ready, count, 0) : err;
}

static __typeof__(poll_epoll) *wait_for_events = poll_epoll;

/* glibc before 2.35 does not have it, nor Linux before 5.11. A seccomp filter may refuse it. */
static void prefer_epoll_pwait2(void)
{
#ifdef HAVE_EPOLL_PWAIT2
	const struct timespec none = { 0 };

	if (!epoll_pwait2(epoll_fd, events, 1, &none, NULL))
		wait_for_events = epoll_pwait2;
#endif
}

int loop_init(void)
{
	/* The default slack of 50 us would more than double the latency of every message. */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		return -errno;
	prefer_epoll_pwait2();
	return 0;
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

int loop_wait(uint64_t nanoseconds)
{
	struct timespec timeout = { (time_t)(nanoseconds / 1000000000u),
				    (long)(nanoseconds % 1000000000u) };
	int count = wait_for_events(epoll_fd, events, MAX_EVENTS,
				    nanoseconds == UINT64_MAX ? NULL : &timeout, NULL);

	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	/* The others stay ready until the next call. */
	if (!call(count, false))
		call(count, true);
	return 0;
}
