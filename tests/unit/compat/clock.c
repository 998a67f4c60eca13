/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The library calls this clock_gettime() (--wrap). */

#include <time.h>

#include "clock.h"

static long seconds_passed;

int __real_clock_gettime(clockid_t id, struct timespec *now);
int __wrap_clock_gettime(clockid_t id, struct timespec *now);

int __wrap_clock_gettime(clockid_t id, struct timespec *now)
{
	int result = __real_clock_gettime(id, now);

	if (id == CLOCK_MONOTONIC_COARSE)
		now->tv_sec += __atomic_load_n(&seconds_passed, __ATOMIC_RELAXED);
	return result;
}

void advance_a_second(void)
{
	__atomic_fetch_add(&seconds_passed, 1, __ATOMIC_RELAXED);
}
