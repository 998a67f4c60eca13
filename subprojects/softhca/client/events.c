/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Descriptors from which events are read. A thread that waits for an event looks for it before it
 * sleeps, because a sleeping processor wakes up more slowly than the daemon answers.
 */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <time.h>

#define MAX_FDS	 65536
/* Nanoseconds. All three processes together take up to 25000 for a message on one processor. */
#define LOOK_FOR 100000

/* A number that was closed unseen may be another file's. Its read() then looks in vain. */
static atomic_bool ours[MAX_FDS];

void events_opened(int fd)
{
	if (fd < MAX_FDS)
		atomic_store(&ours[fd], true);
}

static bool are_ours(int fd)
{
	return fd >= 0 && fd < MAX_FDS && atomic_load_explicit(&ours[fd], memory_order_relaxed);
}

void events_closed(int fd)
{
	if (are_ours(fd))
		atomic_store(&ours[fd], false);
}

static bool none_is_there(int fd)
{
	int bytes;

	return !ioctl(fd, FIONREAD, &bytes) && !bytes;
}

/* Looks until an event is there or time is over. True: no event came. */
static bool look(int fd)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		sched_yield(); /* the daemon may need this processor */
		if (!none_is_there(fd))
			return false;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000ll + now.tv_nsec - begin.tv_nsec <
		 LOOK_FOR);
	return true;
}

/* Whether a signal is pending that @blocked lets through, and that ends a system call. */
static bool ending_signal_is_pending(const sigset_t *blocked)
{
	struct sigaction action;
	sigset_t pending;

	sigpending(&pending);
	for (int i = 1; i < NSIG; i++) {
		if (sigismember(&pending, i) != 1 || sigismember(blocked, i) ||
		    sigaction(i, NULL, &action))
			continue;
		if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN &&
		    !(action.sa_flags & SA_RESTART))
			return true;
	}
	return false;
}

/*
 * Signals wait until the thread has looked. A program may count on a signal to end a read() that
 * sleeps, as qperf does at the end of a test. A signal that is handled just before the sleep would
 * not end it.
 */
bool events_await(int fd)
{
	int saved = errno;
	sigset_t all, blocked;
	bool ended;

	if (!are_ours(fd))
		return false;
	if (!none_is_there(fd) || fcntl(fd, F_GETFL) & O_NONBLOCK) {
		errno = saved;
		return false;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &blocked);
	ended = look(fd) && ending_signal_is_pending(&blocked);
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
	errno = saved;
	return ended;
}
