/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An armed CQ raises one event per sequence number, and none for completions polled before. */

#define UNIT_SETUP setup

#include <softhca/objects/objects.h>

#include <tests/unit/unit.h>

#define ARM(sequence, consumer) ((struct arm_request){ ARM_NEXT, sequence, consumer })
#define FOR_SOLICITED(sequence, consumer) \
	((struct arm_request){ ARM_SOLICITED, sequence, consumer })

static int setup(void **state)
{
	static struct cq_arm arm;

	cq_arm_init(&arm);
	*state = &arm;
	return 0;
}

TEST(a_cq_that_is_not_armed_never_fires)
{
	assert_false(cq_arm_fires(*state, (struct arm_request){ ARM_NONE, 0, 0 }, 10));
}

TEST(a_cq_fires_once_per_sequence_number)
{
	assert_true(cq_arm_fires(*state, ARM(1, 0), 1));
	assert_false(cq_arm_fires(*state, ARM(1, 1), 2));
	assert_true(cq_arm_fires(*state, ARM(2, 1), 2));
}

TEST(arming_after_a_completion_fires)
{
	assert_true(cq_arm_fires(*state, ARM(1, 4), 5));
}

TEST(arming_before_a_completion_fires_at_the_completion)
{
	assert_false(cq_arm_fires(*state, ARM(1, 5), 5));
	assert_true(cq_arm_fires(*state, ARM(1, 5), 6));
}

/* perftest -e arms again before it polls: the completion that woke it raises no second event. */
TEST(arming_again_before_polling_does_not_fire_again)
{
	assert_true(cq_arm_fires(*state, ARM(1, 0), 1));
	assert_false(cq_arm_fires(*state, ARM(2, 0), 1));
	assert_true(cq_arm_fires(*state, ARM(2, 0), 2));
}

TEST(solicited_needs_a_solicited_completion)
{
	assert_false(cq_arm_fires(*state, FOR_SOLICITED(1, 0), 3));
	cq_arm_solicited(*state, 3);
	assert_true(cq_arm_fires(*state, FOR_SOLICITED(1, 0), 4));
}

TEST(a_polled_solicited_completion_does_not_fire)
{
	cq_arm_solicited(*state, 0);
	assert_false(cq_arm_fires(*state, FOR_SOLICITED(1, 1), 3));
}

TEST(a_wrapped_consumer_index_fires)
{
	struct cq_arm *arm = *state;

	arm->notified = 0xfffffe;
	assert_false(cq_arm_fires(arm, ARM(1, 0xffffff), 0xffffff));
	assert_true(cq_arm_fires(arm, ARM(1, 0xffffff), 0x1000000));
	assert_true(cq_arm_fires(arm, ARM(2, 0), 0x1000001));
}

UNIT_MAIN(NULL, NULL)
