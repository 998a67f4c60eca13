/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Preloaded into the self-test: the processes that DEAF names get no event. The processes wait for
 * the event one after the other: 0 is the creator of the receive QP, 1 and 2 are registered with
 * it. With HASTY the clock advances by an hour at each reading.
 */
#include <dlfcn.h>
#include <poll.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define EVENT_MS 3000	/* the time that only the self-test's wait for an event has (actor.c) */

static atomic_int *waits;	/* shared by all processes, as it exists before the first fork */

__attribute__((constructor)) static void share(void)
{
	waits = mmap(NULL, sizeof(*waits), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (waits == MAP_FAILED)
		abort();
}

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
	int (*real)(struct pollfd *, nfds_t, int) =
		(int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");
	const char *deaf = getenv("DEAF");

	if (milliseconds == EVENT_MS && deaf && strchr(deaf, '0' + atomic_fetch_add(waits, 1)))
		return 0;
	return real(fds, count, milliseconds);
}

__attribute__((visibility("default"))) time_t time(time_t *out)
{
	static atomic_int hours;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (getenv("HASTY"))
		now.tv_sec += 3600 * atomic_fetch_add(&hours, 1);
	if (out)
		*out = now.tv_sec;
	return now.tv_sec;
}
