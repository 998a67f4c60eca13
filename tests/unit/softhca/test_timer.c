/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The heap of retry timers. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>

#include <softhca/base/timer.h>

static uint64_t last;
static int calls;

static void in_order(struct timer *timer)
{
	assert_true(timer->deadline >= last);
	assert_false(timer_running(timer));
	last = timer->deadline;
	calls++;
}

static void runs_in_order(void **state)
{
	static struct timer timers[500];
	struct timer_heap heap = { 0 };

	(void)state;
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

static void restarted_timer_does_not_hold_the_loop(void **state)
{
	struct timer timer = { .expired = again };

	(void)state;
	calls = 0;
	timer_start(&again_heap, &timer, 5);
	assert_int_equal(timer_run(&again_heap, 10), 1);
	assert_int_equal(calls, 1);
	assert_true(timer_running(&timer));
	timer_stop(&again_heap, &timer);
	timer_stop(&again_heap, &timer); /* twice does no harm */
	timer_heap_free(&again_heap);
}

static void runs_at_its_time_and_not_before(void **state)
{
	struct timer timer = { .expired = in_order };
	struct timer_heap heap = { 0 };

	(void)state;
	last = 0;
	assert_int_equal(timer_start(&heap, &timer, 10), 0);
	assert_int_equal(timer_run(&heap, 9), 0);
	assert_int_equal(timer_run(&heap, 10), 1);
	timer_heap_free(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_in_order),
		cmocka_unit_test(runs_at_its_time_and_not_before),
		cmocka_unit_test(restarted_timer_does_not_hold_the_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
