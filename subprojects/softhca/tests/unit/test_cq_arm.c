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

TEST(a_resize_raises_no_event_and_loses_none)
{
	static const struct {
		const char *what;
		int solicited; /* the index of a solicited completion; -1 = none */
		uint32_t consumer;
		struct arm_request request;
		uint32_t producer;
		bool fires;
	} after[] = {
		{ "the entry of the resize", -1, 5, { ARM_NEXT, 1, 5 }, 6, false },
		{ "the completion behind it", -1, 5, { ARM_NEXT, 1, 5 }, 7, true },
		{ "a solicited one, unpolled", 4, 4, { ARM_SOLICITED, 1, 5 }, 6, true },
		{ "a solicited one, polled", 4, 5, { ARM_SOLICITED, 1, 4 }, 6, false },
	};

	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		struct cq_arm arm;

		cq_arm_init(&arm);
		if (after[i].solicited >= 0)
			cq_arm_solicited(&arm, (uint32_t)after[i].solicited);
		cq_arm_resized(&arm, after[i].consumer);
		if (cq_arm_fires(&arm, after[i].request, after[i].producer) != after[i].fires)
			fail_msg("%s", after[i].what);
	}
}

UNIT_MAIN(NULL, NULL)
