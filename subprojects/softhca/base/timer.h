/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Timers, in a list in the order of their deadlines. */
#ifndef SOFTHCA_TIMER_H
#define SOFTHCA_TIMER_H

#include "list.h"

#include <stdint.h>

/* All zero is a timer that does not run. */
struct timer {
	uint64_t deadline; /* nanoseconds of CLOCK_MONOTONIC */
	struct list link;
	void (*expired)(struct timer *timer);
};

/* Starts @timer, or moves its deadline. */
void timer_start(struct list *timers, struct timer *timer, uint64_t deadline);
void timer_stop(struct timer *timer);
bool timer_running(const struct timer *timer);

/* Calls every timer whose deadline is not after @now; each is stopped before its call. */
void timer_run(struct list *timers, uint64_t now);

/* The next deadline, UINT64_MAX if there is none. */
uint64_t timer_next(const struct list *timers);

#endif
