/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Notices the daemon's death by a thread, since a program that polls makes no system call. */
#include "client.h"
#include "own_thread.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

#define STACK (64u << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends = -1; /* epoll of the connections' ends; -1 = no thread */
static unsigned int watched; /* connections in it */
static atomic_bool said;

void death_tell(void)
{
	static const char text[] =
		"softhca: the daemon has ended, and with it the adapters of this program: commands fail with EIO, "
		"and so does polling for completions\n";

	/* Not by stdio: another thread may hold the lock of stderr. A failure changes nothing. */
	if (!atomic_exchange(&said, true) && real()->write(2, text, sizeof(text) - 1) < 0)
		return;
}

/* True if the thread must end: no connection is left, or the program has closed the epoll. */
static bool end_if_unused(bool failed)
{
	bool unused;

	pthread_mutex_lock(&lock);
	unused = failed || !watched;
	if (unused) {
		if (!failed)
			real()->close(ends);
		ends = -1;
		watched = 0;
	}
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *wait_for_ends(void *epoll)
{
	struct epoll_event event;
	bool failed;
	int ended;

	own_thread_begin();
	do {
		ended = epoll_wait((int)(intptr_t)epoll, &event, 1, OWN_THREAD_LOOK_MS);
		failed = ended < 0 && errno != EINTR;
		if (ended == 1)
			dev_died(event.data.fd);
	} while (!own_thread_is_alone() && !end_if_unused(failed));
	return NULL;
}

static bool start_thread(int epoll)
{
	pthread_attr_t attr;
	pthread_t thread;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN + STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	err = own_thread_start(&thread, &attr, wait_for_ends, (void *)(intptr_t)epoll);
	pthread_attr_destroy(&attr);
	return !err;
}

/* Without the thread everything works but this. */
static void start(void)
{
	ends = fd_move_high(epoll_create1(EPOLL_CLOEXEC));
	if (ends >= 0 && !start_thread(ends)) {
		real()->close(ends);
		ends = -1;
	}
}

void death_watch(int sock, int fd)
{
	/* EPOLLHUP is reported in any case: once, since dev_died() may find another file at @fd. */
	struct epoll_event event = { .events = EPOLLONESHOT, .data.fd = fd };

	pthread_mutex_lock(&lock);
	if (ends < 0)
		start();
	if (ends >= 0 && !epoll_ctl(ends, EPOLL_CTL_ADD, sock, &event))
		watched++;
	pthread_mutex_unlock(&lock);
}

void death_forget(int sock)
{
	pthread_mutex_lock(&lock);
	if (ends >= 0 && !epoll_ctl(ends, EPOLL_CTL_DEL, sock, NULL))
		watched--;
	pthread_mutex_unlock(&lock);
}

/* A forked child has neither the thread nor the connections. */
void death_forked(void)
{
	pthread_mutex_init(&lock, NULL);
	if (ends >= 0)
		real()->close(ends);
	ends = -1;
	watched = 0;
	atomic_store(&said, false);
}
