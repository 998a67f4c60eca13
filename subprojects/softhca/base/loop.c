/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Calls the watches of descriptors that are ready. */
#include "loop.h"

#include <base/kernel.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The most events that one turn serves. Only events of the same turn are put in order. */
#define MAX_EVENTS 4096

static int epoll_fd = -1;
static int bell_fd = -1; /* is readable when a program has rung */
static int spare_fd = -1; /* closed for a moment when no other descriptor is left */
static struct epoll_event events[MAX_EVENTS];

static int control(int operation, int fd, uint32_t wanted, struct watch *watch)
{
	struct epoll_event event = { .events = wanted, .data.ptr = watch };

	return epoll_ctl(epoll_fd, operation, fd, &event) ? -errno : 0;
}

int loop_watch(int fd, uint32_t wanted, struct watch *watch)
{
	return control(EPOLL_CTL_ADD, fd, wanted, watch);
}

int loop_change(int fd, uint32_t wanted, struct watch *watch)
{
	return control(EPOLL_CTL_MOD, fd, wanted, watch);
}

/* The ring has ended the sleep. The engine then looks at the doorbells by itself. */
static void bell_came(struct watch *watch, uint32_t which)
{
	uint64_t count;

	(void)watch;
	(void)which;
	/* The result says nothing, but glibc warns where it is not used. */
	if (read(bell_fd, &count, sizeof(count)) < 0)
		return;
}

static int watch_bell(void)
{
	static struct watch bell = { .ready = bell_came };

	bell_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return bell_fd < 0 ? -errno : loop_watch(bell_fd, EPOLLIN, &bell);
}

void loop_lend_spare(void)
{
	close(spare_fd);
}

void loop_take_spare(void)
{
	spare_fd = fcntl(epoll_fd, F_DUPFD_CLOEXEC, 0);
}

int loop_init(bool sleeps_on_epoll)
{
	int err = 0;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0)
		return -errno;
	loop_take_spare();
	if (sleeps_on_epoll)
		err = watch_bell();
	return err ? err : sleep_init(epoll_fd, bell_fd);
}

void loop_forget(int fd)
{
	epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

/* A connection that stayed in the queue would end each sleep at once. */
int loop_accept(int listener, int flags)
{
	int sock = accept4(listener, NULL, NULL, flags);

	if (sock >= 0 || (errno != EMFILE && errno != ENFILE))
		return sock;
	loop_lend_spare();
	sock = accept4(listener, NULL, NULL, flags);
	if (sock >= 0)
		close(sock);
	loop_take_spare();
	return -1;
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

int loop_wait(uint64_t nanoseconds, enum sleep_end *end)
{
	int count;

	*end = nanoseconds ? sleep_begin(nanoseconds) : SLEEP_NONE;
	if (!sleep_has_ready())
		return 0;
	count = epoll_wait(epoll_fd, events, MAX_EVENTS, 0);
	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	/* The others stay ready until the next call. */
	if (call(count, false))
		return 0;
	call(count, true);
	sleep_served();
	return 0;
}
