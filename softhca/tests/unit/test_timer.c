/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The list of retry timers. */

#include <stdlib.h>

#include <softhca/base/timer.h>

#include <tests/unit/unit.h>

static uint64_t last;
static int calls;

static void in_order(struct timer *timer)
{
	assert_true(timer->deadline >= last);
	assert_false(timer_running(timer));
	last = timer->deadline;
	calls++;
}

TEST(runs_in_order)
{
	static struct timer timers[500];
	struct list list;

	list_init(&list);
	srandom(1);
	last = 0;
	calls = 0;
	for (int i = 0; i < 500; i++) {
		timers[i].expired = in_order;
		timer_start(&list, &timers[i], (uint64_t)random() % 1000);
	}
	for (int i = 0; i < 500; i += 3)
		timer_stop(&timers[i]);
	for (int i = 1; i < 500; i += 3)
		timer_start(&list, &timers[i], (uint64_t)random() % 1000);
	timer_run(&list, 500);
	assert_true(calls < 333);
	assert_true(timer_next(&list) > 500);
	timer_run(&list, 1000);
	assert_int_equal(calls, 333);
	assert_true(timer_next(&list) == UINT64_MAX);
}

static struct list again_list;

static void again(struct timer *timer)
{
	calls++;
	timer_start(&again_list, timer, timer->deadline);
}

TEST(restarted_timer_does_not_hold_the_loop)
{
	struct timer timer = { .expired = again };

	calls = 0;
	list_init(&again_list);
	timer_start(&again_list, &timer, 5);
	timer_run(&again_list, 10);
	assert_int_equal(calls, 1);
	assert_true(timer_running(&timer));
	timer_stop(&timer);
	timer_stop(&timer); /* twice does no harm */
}

TEST(runs_at_its_time_and_not_before)
{
	struct timer timer = { .expired = in_order };
	struct list list;

	list_init(&list);
	last = 0;
	calls = 0;
	timer_start(&list, &timer, 10);
	timer_run(&list, 9);
	assert_int_equal(calls, 0);
	timer_run(&list, 10);
	assert_int_equal(calls, 1);
}

UNIT_MAIN(NULL, NULL)
