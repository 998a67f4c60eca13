/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An armed CQ raises one event per sequence number, and none for completions polled before. */

#include <objects/objects.h>

#include <harness/unit.h>

static const struct row {
	const char *what;
	struct arm_request request;
	uint32_t producer;
	bool fires;
} rows[] = {
	{ "not armed", { ARM_NONE, 0, 0 }, 10, false },
	{ "armed before the completion", { ARM_NEXT, 1, 5 }, 5, false },
	{ "at the completion", { ARM_NEXT, 1, 5 }, 6, true },
	{ "the same sequence number", { ARM_NEXT, 1, 6 }, 7, false },
	{ "armed after a completion", { ARM_NEXT, 2, 6 }, 7, true },
	/* perftest -e arms again before it polls the completion that woke it. */
	{ "armed again before polling", { ARM_NEXT, 3, 6 }, 7, false },
	{ "the next completion", { ARM_NEXT, 3, 6 }, 8, true },
	{ "the index at its end", { ARM_NEXT, 4, 0xffffff }, 0xffffff, false },
	{ "the index wraps", { ARM_NEXT, 4, 0xffffff }, 0x1000000, true },
	{ "after the wrap", { ARM_NEXT, 5, 0 }, 0x1000001, true },
};

TEST(a_cq_fires_once_per_arming_at_a_new_completion)
{
	struct cq_arm arm;

	cq_arm_init(&arm);
	for (const struct row *row = rows; row < rows + sizeof(rows) / sizeof(rows[0]); row++) {
		if (cq_arm_fires(&arm, row->request, row->producer) != row->fires)
			fail_msg("%s", row->what);
	}
}

TEST(solicited_needs_an_unpolled_solicited_completion)
{
	struct cq_arm arm;

	cq_arm_init(&arm);
	assert_false(cq_arm_fires(&arm, (struct arm_request){ ARM_SOLICITED, 1, 0 }, 3));
	cq_arm_solicited(&arm, 3);
	assert_false(cq_arm_fires(&arm, (struct arm_request){ ARM_SOLICITED, 1, 4 }, 5));
	assert_true(cq_arm_fires(&arm, (struct arm_request){ ARM_SOLICITED, 1, 0 }, 5));
}

TEST(the_entry_of_a_resize_is_no_news)
{
	struct cq_arm arm;

	cq_arm_init(&arm);
	cq_arm_resized(&arm, 5);
	assert_false(cq_arm_fires(&arm, (struct arm_request){ ARM_NEXT, 1, 5 }, 6));
	assert_true(cq_arm_fires(&arm, (struct arm_request){ ARM_NEXT, 1, 5 }, 7));
}

TEST(a_resize_moves_an_unpolled_solicited_completion)
{
	struct cq_arm arm;

	cq_arm_init(&arm);
	cq_arm_solicited(&arm, 4);
	cq_arm_resized(&arm, 4);
	assert_true(cq_arm_fires(&arm, (struct arm_request){ ARM_SOLICITED, 1, 5 }, 6));
}

TEST(a_resize_leaves_a_polled_solicited_completion)
{
	struct cq_arm arm;

	cq_arm_init(&arm);
	cq_arm_solicited(&arm, 4);
	cq_arm_resized(&arm, 5);
	assert_false(cq_arm_fires(&arm, (struct arm_request){ ARM_SOLICITED, 1, 4 }, 6));
}

UNIT_MAIN(NULL, NULL)
