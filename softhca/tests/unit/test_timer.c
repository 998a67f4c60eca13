/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The list of retry timers. */

#include <stdlib.h>

#include <softhca/base/timer.h>

#include <tests/unit/unit.h>

static uint64_t now, last; /* the time, and the deadline of the timer that ran last */
static int calls;

static void in_order(struct timer *timer)
{
	assert_true(timer->deadline >= last && timer->deadline <= now);
	assert_false(timer_running(timer));
	last = timer->deadline;
	calls++;
}

/* Started, stopped and started again in any order, up to 500 step by step, and then all at once. */
TEST(timers_run_in_order_and_at_their_deadlines)
{
	static struct timer timers[500];
	struct list list;

	list_init(&list);
	srandom(1);
	for (int i = 0; i < 500; i++) {
		timers[i].expired = in_order;
		timer_start(&list, &timers[i], (uint64_t)random() % 1000);
	}
	for (int i = 0; i < 500; i += 3)
		timer_stop(&timers[i]);
	for (int i = 1; i < 500; i += 3)
		timer_start(&list, &timers[i], (uint64_t)random() % 1000);
	for (now = 0; now < 500; now++) {
		timer_run(&list, now);
		assert_true(timer_next(&list) > now);
	}
	assert_in_range(calls, 1, 332);
	now = 1000;
	timer_run(&list, now);
	assert_int_equal(calls, 333);
	assert_true(timer_next(&list) == UINT64_MAX);
}

UNIT_MAIN(NULL, NULL)
