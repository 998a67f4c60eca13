/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Rates and counts of faults. The same seed repeats them. */

#include <errno.h>

#include <softhca/machine/fault.h>

#include <tests/unit/unit.h>

/* Which of 64 packets are lost, as bits. @delays: also ask for delays, whose rate is 0. */
static uint64_t lost(uint64_t seed, bool delays)
{
	struct faults faults = { .rate = { [FAULT_DROP] = FAULT_ALWAYS / 2 } };
	uint64_t bits = 0;

	fault_seed(&faults, seed);
	for (int i = 0; i < 64; i++) {
		bits = bits << 1 | fault_strikes(&faults, FAULT_DROP);
		if (delays)
			assert_false(fault_strikes(&faults, FAULT_DELAY));
	}
	assert_int_equal(faults.hits[FAULT_DROP], __builtin_popcountll(bits));
	return bits;
}

TEST(the_seed_decides_which_packets_are_lost)
{
	assert_true(lost(7, false) == lost(7, false) && lost(7, false) != lost(8, false));
	assert_true(lost(7, true) == lost(7, false));
}

TEST(a_fault_that_always_hits_ends_with_clear)
{
	struct faults faults = { .rate = { [FAULT_CORRUPT] = FAULT_ALWAYS } };

	for (int i = 0; i < 100; i++) {
		assert_true(fault_strikes(&faults, FAULT_CORRUPT) && fault_loses(&faults));
		assert_false(fault_strikes(&faults, FAULT_DROP));
	}
	fault_clear(&faults);
	assert_false(fault_loses(&faults));
	assert_int_equal(faults.hits[FAULT_CORRUPT], 200);
}

TEST(commands_fail_as_often_as_planned)
{
	struct faults faults = { .random = 0 };

	assert_int_equal(fault_plan_command(&faults, 24, ENOMEM, 2), 0);
	assert_int_equal(fault_of_command(&faults, 25), 0);
	assert_int_equal(fault_of_command(&faults, 24), -ENOMEM);
	assert_int_equal(fault_of_command(&faults, 24), -ENOMEM);
	assert_int_equal(fault_of_command(&faults, 24), 0);
	for (int i = 0; i < FAULT_COMMANDS; i++)
		assert_int_equal(fault_plan_command(&faults, FAULT_ANY, EIO, 1), 0);
	assert_int_equal(fault_plan_command(&faults, FAULT_ANY, EIO, 1), -ENOSPC);
}

UNIT_MAIN(NULL, NULL)
