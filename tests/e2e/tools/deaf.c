/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Preloaded into the self-test: no process gets an event. */
#include <dlfcn.h>
#include <poll.h>

/* The time that only the self-test's wait for an event has (tools/selftest/actor.c). */
#define EVENT_MS 3000

__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
	int (*real)(struct pollfd *, nfds_t, int) =
		(int (*)(struct pollfd *, nfds_t, int))dlsym(RTLD_NEXT, "poll");

	return milliseconds == EVENT_MS ? 0 : real(fds, count, milliseconds);
}
