/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The numbers of a two-way QP, on every provider that has XRC. */

#include <compat/pair.h>

#include "../unit.h"

static const struct {
	const char *provider;
	enum pair_rule rule;
	uint32_t initiator, target;
	bool fits;
} rows[] = {
	{ "mlx4, neighbours", PAIR_TAGGED, 0x48, 0x800049, true },
	{ "mlx4, high", PAIR_TAGGED, 0x7ffffe, 0xffffff, true },
	{ "mlx4, one in between", PAIR_TAGGED, 0x48, 0x80004a, false },
	{ "mlx4, the other way round", PAIR_TAGGED, 0x49, 0x800048, false },
	{ "mlx4, the neighbour wraps into the tag", PAIR_TAGGED, 0x7fffff, 0x800000, false },
	{ "mlx5, neighbours", PAIR_NEXT, 0x1a2, 0x1a3, true },
	{ "mlx5, one in between", PAIR_NEXT, 0x1a2, 0x1a4, false },
	{ "mlx5, high: no tag there", PAIR_NEXT, 0x8000ff, 0x800100, true },
	{ "mlx5, the last number", PAIR_NEXT, 0xffffff, 0x0, false },
	{ "hns, neighbours", PAIR_NEXT, 0x9, 0xa, true },
	{ "the same number twice", PAIR_NEXT, 0x9, 0x9, false },
};

TEST(every_row)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		print_message("  %s\n", rows[i].provider);
		assert_int_equal(pair_fits(rows[i].rule, rows[i].initiator, rows[i].target), rows[i].fits);
	}
}

/* A peer knows only the visible number, and a completion has only the target's. */
TEST(both_ways_agree)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum pair_rule rule = rows[i].rule;

		if (!rows[i].fits)
			continue;
		assert_int_equal(pair_target(rule, rows[i].initiator), rows[i].target);
		assert_int_equal(pair_visible(rule, rows[i].target), rows[i].initiator);
	}
}

UNIT_MAIN(NULL, NULL,
	UNIT(every_row), UNIT(both_ways_agree))
