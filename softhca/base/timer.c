/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Timers of retries: a binary heap, so that thousands of waiting QPs cost nothing until the first
 * is due.
 */
#include "timer.h"

#include <errno.h>
#include <stdlib.h>

static void put(struct timer_heap *heap, size_t index, struct timer *timer)
{
	heap->slot[index] = timer;
	timer->place = index + 1;
}

static void sift_up(struct timer_heap *heap, size_t index)
{
	struct timer *timer = heap->slot[index];

	while (index) {
		size_t parent = (index - 1) / 2;

		if (heap->slot[parent]->deadline <= timer->deadline)
			break;
		put(heap, index, heap->slot[parent]);
		index = parent;
	}
	put(heap, index, timer);
}

static void sift_down(struct timer_heap *heap, size_t index)
{
	struct timer *timer = heap->slot[index];

	for (;;) {
		size_t child = 2 * index + 1;

		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    heap->slot[child + 1]->deadline < heap->slot[child]->deadline)
			child++;
		if (timer->deadline <= heap->slot[child]->deadline)
			break;
		put(heap, index, heap->slot[child]);
		index = child;
	}
	put(heap, index, timer);
}

static int reserve(struct timer_heap *heap)
{
	size_t capacity = heap->capacity ? 2 * heap->capacity : 64;
	struct timer **slot;

	if (heap->count < heap->capacity)
		return 0;
	slot = realloc(heap->slot, capacity * sizeof(struct timer *));
	if (!slot)
		return -ENOMEM;
	heap->slot = slot;
	heap->capacity = capacity;
	return 0;
}

void timer_heap_free(struct timer_heap *heap)
{
	free(heap->slot);
	heap->slot = NULL;
	heap->count = heap->capacity = 0;
}

int timer_start(struct timer_heap *heap, struct timer *timer, uint64_t deadline)
{
	int err;

	timer_stop(heap, timer);
	err = reserve(heap);
	if (err)
		return err;
	timer->deadline = deadline;
	put(heap, heap->count++, timer);
	sift_up(heap, timer->place - 1);
	return 0;
}

void timer_stop(struct timer_heap *heap, struct timer *timer)
{
	size_t index = timer->place - 1;
	struct timer *last;

	if (!timer->place)
		return;
	timer->place = 0;
	last = heap->slot[--heap->count];
	if (last == timer)
		return;
	put(heap, index, last);
	sift_up(heap, index);
	sift_down(heap, last->place - 1);
}

bool timer_running(const struct timer *timer)
{
	return timer->place != 0;
}

size_t timer_run(struct timer_heap *heap, uint64_t now)
{
	size_t calls = 0;

	/*
	 * A timer may start itself again. Count, because one with a past deadline would run for
	 * ever.
	 */
	for (size_t limit = heap->count; limit && heap->count && heap->slot[0]->deadline <= now;
	     limit--) {
		struct timer *timer = heap->slot[0];

		timer_stop(heap, timer);
		timer->expired(timer);
		calls++;
	}
	return calls;
}

uint64_t timer_next(const struct timer_heap *heap)
{
	return heap->count ? heap->slot[0]->deadline : UINT64_MAX;
}
