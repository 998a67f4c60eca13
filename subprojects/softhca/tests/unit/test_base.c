/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Tables of numbers, which two tables may share and which are reused late; the list of timers. */

#include <errno.h>
#include <stdlib.h>

#include <base/numtab.h>
#include <base/timer.h>

#include <harness/unit.h>

static int things[16];

static uint32_t add(struct numtab *tab, int thing)
{
	uint32_t number = 0;

	assert_int_equal(numtab_add(tab, &things[thing], &number), 0);
	return number;
}

/*
 * The QPs and SRQs of a ConnectX-5 share their numbers. No number is used twice, and each table
 * finds only its own.
 */
TEST(two_tables_share_one_sequence)
{
	struct numtab qps, srqs;
	uint32_t number;

	assert_int_equal(numtab_init(&qps, 10, 14, 12, 4), 0);
	assert_int_equal(numtab_init(&srqs, 10, 14, 12, 4), 0);
	numtab_pair(&qps, &srqs);
	assert_int_equal(add(&qps, 0), 12);
	assert_int_equal(add(&srqs, 1), 13);
	assert_int_equal(add(&qps, 2), 10);
	assert_null(numtab_find(&qps, 13));
	assert_null(numtab_find(&srqs, 12));
	assert_ptr_equal(numtab_find(&qps, 12), &things[0]);
	assert_null(numtab_find(&qps, 9));
	assert_null(numtab_find(&qps, 14));
	assert_int_equal(add(&srqs, 3), 11);
	assert_int_equal(numtab_add(&qps, &things[4], &number), -ENOMEM);
	numtab_remove(&srqs, 13);
	assert_int_equal(add(&qps, 4), 13);
	numtab_free(&qps);
	numtab_free(&srqs);
}

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
