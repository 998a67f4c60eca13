/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Tables of numbers: two tables in one sequence, late reuse of numbers, limits. */

#include <errno.h>

#include <softhca/base/numtab.h>

#include <tests/unit/unit.h>

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

UNIT_MAIN(NULL, NULL)
