/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The heap of retry timers. */

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
	struct timer_heap heap = { 0 };

	srandom(1);
	last = 0;
	calls = 0;
	for (int i = 0; i < 500; i++) {
		timers[i].expired = in_order;
		assert_int_equal(timer_start(&heap, &timers[i], (uint64_t)random() % 1000), 0);
	}
	for (int i = 0; i < 500; i += 3)
		timer_stop(&heap, &timers[i]);
	for (int i = 1; i < 500; i += 3)
		assert_int_equal(timer_start(&heap, &timers[i], (uint64_t)random() % 1000), 0);
	assert_true(timer_run(&heap, 500) < 333);
	assert_true(timer_next(&heap) > 500);
	timer_run(&heap, 1000);
	assert_int_equal(calls, 333);
	assert_true(timer_next(&heap) == UINT64_MAX);
	timer_heap_free(&heap);
}

static struct timer_heap again_heap;

static void again(struct timer *timer)
{
	calls++;
	timer_start(&again_heap, timer, timer->deadline);
}

TEST(restarted_timer_does_not_hold_the_loop)
{
	struct timer timer = { .expired = again };

	calls = 0;
	timer_start(&again_heap, &timer, 5);
	assert_int_equal(timer_run(&again_heap, 10), 1);
	assert_int_equal(calls, 1);
	assert_true(timer_running(&timer));
	timer_stop(&again_heap, &timer);
	timer_stop(&again_heap, &timer); /* twice does no harm */
	timer_heap_free(&again_heap);
}

TEST(runs_at_its_time_and_not_before)
{
	struct timer timer = { .expired = in_order };
	struct timer_heap heap = { 0 };

	last = 0;
	assert_int_equal(timer_start(&heap, &timer, 10), 0);
	assert_int_equal(timer_run(&heap, 9), 0);
	assert_int_equal(timer_run(&heap, 10), 1);
	timer_heap_free(&heap);
}

UNIT_MAIN(NULL, NULL, UNIT(runs_in_order), UNIT(runs_at_its_time_and_not_before),
	  UNIT(restarted_timer_does_not_hold_the_loop))
