/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Timers of retries, kept in a heap. */
#ifndef SOFTHCA_TIMER_H
#define SOFTHCA_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timer {
	uint64_t deadline;   /* nanoseconds of CLOCK_MONOTONIC */
	size_t place;	     /* 1 + index in the heap; 0 = not running */
	void (*expired)(struct timer *timer);
};

struct timer_heap {
	struct timer **slot;
	size_t count, capacity;
};

void timer_heap_free(struct timer_heap *heap);

/* Starts @timer, or moves its deadline. 0 or -ENOMEM. */
int timer_start(struct timer_heap *heap, struct timer *timer, uint64_t deadline);
void timer_stop(struct timer_heap *heap, struct timer *timer);
bool timer_running(const struct timer *timer);

/*
 * Calls every timer whose deadline is not after @now; each is stopped before its call. Number of
 * calls.
 */
size_t timer_run(struct timer_heap *heap, uint64_t now);

/* The earliest deadline, or UINT64_MAX. */
uint64_t timer_next(const struct timer_heap *heap);

#endif
