/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The timer that was started last is mostly due last, so timer_start() searches from the end. */
#include "timer.h"

void timer_start(struct list *timers, struct timer *timer, uint64_t deadline)
{
	struct list *at;

	timer_stop(timer);
	timer->deadline = deadline;
	for (at = timers->prev; at != timers; at = at->prev) {
		if (container_of(at, struct timer, link)->deadline <= deadline)
			break;
	}
	list_add(at->next, &timer->link);
}

void timer_stop(struct timer *timer)
{
	if (!timer_running(timer))
		return;
	list_del(&timer->link);
	timer->link.next = NULL;
}

bool timer_running(const struct timer *timer)
{
	return timer->link.next;
}

/* Due timers go to a list of their own: a timer may start itself again with a past time. */
void timer_run(struct list *timers, uint64_t now)
{
	struct list due;

	list_init(&due);
	while (timer_next(timers) <= now) {
		struct list *first = timers->next;

		list_del(first);
		list_add(&due, first);
	}
	while (!list_empty(&due)) {
		struct timer *timer = container_of(due.next, struct timer, link);

		timer_stop(timer);
		timer->expired(timer);
	}
}

uint64_t timer_next(const struct list *timers)
{
	return list_empty(timers) ? UINT64_MAX
				  : container_of(timers->next, struct timer, link)->deadline;
}
