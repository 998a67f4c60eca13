/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The same seed repeats the same faults. */

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

UNIT_MAIN(NULL, NULL)
