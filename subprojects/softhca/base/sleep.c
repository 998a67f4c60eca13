/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The daemon's sleep.
 *
 * The daemon sleeps on a futex in memory that programs share, since waking it that way takes one
 * system call and no descriptor. No call waits for a futex and an epoll. So a second thread waits
 * for the epoll and wakes the first one. The second thread does nothing else.
 *
 * With other machines on the wire, messages come out of the epoll, mostly while the daemon sleeps.
 * Then the threads have each other's place: the first one sleeps on the epoll, and the second one
 * waits for the futex and writes to a descriptor in the epoll.
 */
#include "sleep.h"

#include <base/memfd.h>
#include <proto.h>

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLICE 100000 /* nanoseconds, the least */

static struct softhca_wake *page;
static int page_fd = -1;
static int epoll;
static _Atomic uint32_t ready; /* a descriptor in the epoll is ready and has not been served */
static int bell = -1; /* the descriptor for rings; -1 = the first thread hears them itself */
/* The second thread has written to the bell, and no sleep has been announced since. */
static _Atomic uint32_t relayed;

static long futex(_Atomic uint32_t *word, int operation, uint32_t value,
		  const struct timespec *timeout)
{
	return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void *wait_for_epoll(void *unused)
{
	struct pollfd pollfd = { .fd = epoll, .events = POLLIN };

	(void)unused;
	for (;;) {
		if (poll(&pollfd, 1, -1) <= 0)
			continue;
		atomic_store(&ready, 1);
		atomic_store(&page->asleep, 0);
		futex(&page->asleep, FUTEX_WAKE, 1, NULL);
		while (atomic_load(&ready))
			futex(&ready, FUTEX_WAIT_PRIVATE, 1, NULL);
	}
	return NULL;
}

static void *wait_for_ring(void *unused)
{
	const uint64_t one = 1;
	uint32_t asleep; /* a program may have written any number */

	(void)unused;
	for (;;) {
		while ((asleep = atomic_load(&page->asleep)))
			futex(&page->asleep, FUTEX_WAIT, asleep, NULL);
		atomic_store(&relayed, 1);
		if (write(bell, &one, sizeof(one)) < 0)
			continue;
		while (atomic_load(&relayed))
			futex(&relayed, FUTEX_WAIT_PRIVATE, 1, NULL);
	}
	return NULL;
}

static int make_page(void)
{
	page_fd = memfd_sealed("softhca-wake", SOFTHCA_PAGE);
	if (page_fd < 0)
		return page_fd;
	page = mmap(NULL, SOFTHCA_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
	return page == MAP_FAILED ? -errno : 0;
}

/* Signals are the first thread's. */
static int start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, NULL, bell < 0 ? wait_for_epoll : wait_for_ring, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -err;
}

/*
 * Programs that poll never sleep. A thread that wakes up takes the processor from one of them at
 * once only if its time slice is shorter than theirs (Linux 6.12); otherwise at the next tick of
 * the scheduler. Older kernels ignore the length of the slice.
 */
static void ask_for_short_slice(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0))
		return;
	attr.runtime = SLICE;
	syscall(SYS_sched_setattr, 0, &attr, 0);
}

int sleep_init(int epoll_fd, int bell_fd)
{
	int err = make_page();

	/* The default slack of 50 us would make every nap longer. */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	ask_for_short_slice();
	epoll = epoll_fd;
	bell = bell_fd;
	return err ? err : start_thread();
}

int sleep_page(void)
{
	return page_fd;
}

void sleep_announce(void)
{
	atomic_store(&page->asleep, 1);
	if (atomic_exchange(&relayed, 0))
		futex(&relayed, FUTEX_WAKE_PRIVATE, 1, NULL);
}

/* Whether the epoll is ready; waits for it so long. NULL: until it is. */
static bool epoll_is_ready(const struct timespec *timeout)
{
	struct pollfd pollfd = { .fd = epoll, .events = POLLIN };

	if (ppoll(&pollfd, 1, timeout, NULL) <= 0)
		return false;
	atomic_store(&ready, 1);
	return true;
}

enum sleep_end sleep_begin(uint64_t nanoseconds)
{
	const struct timespec timeout = { (time_t)(nanoseconds / 1000000000u),
					  (long)(nanoseconds % 1000000000u) };
	const struct timespec *until = nanoseconds == UINT64_MAX ? NULL : &timeout;
	bool over;

	if (bell >= 0)
		over = !epoll_is_ready(until);
	else
		over = !atomic_load(&ready) && futex(&page->asleep, FUTEX_WAIT, 1, until) &&
		       errno == ETIMEDOUT;

	/* A program may have rung just when the time was over. */
	return atomic_exchange(&page->asleep, 0) && over ? SLEEP_OVER : SLEEP_WOKEN;
}

int sleep_waker(void)
{
	return (int)atomic_load_explicit(&page->processor, memory_order_relaxed);
}

bool sleep_has_ready(void)
{
	static const struct timespec now;

	return atomic_load(&ready) || (bell >= 0 && epoll_is_ready(&now));
}

void sleep_served(void)
{
	atomic_store(&ready, 0);
	if (bell < 0)
		futex(&ready, FUTEX_WAKE_PRIVATE, 1, NULL);
}
