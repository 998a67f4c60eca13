/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* An armed CQ raises its event in time, and never twice for the same completion. */

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

static void not_armed(void **state)
{
	assert_false(cq_arm_fires(*state, (struct arm_request){ ARM_NONE, 0, 0 }, 10));
}

static void next_completion(void **state)
{
	assert_false(cq_arm_fires(*state, ARM(1, 0), 0));
	assert_true(cq_arm_fires(*state, ARM(1, 0), 1));
}

static void once_per_sequence_number(void **state)
{
	assert_true(cq_arm_fires(*state, ARM(1, 0), 1));
	assert_false(cq_arm_fires(*state, ARM(1, 1), 2));
	assert_true(cq_arm_fires(*state, ARM(2, 1), 2));
}

static void armed_after_the_completion(void **state)
{
	assert_true(cq_arm_fires(*state, ARM(1, 4), 5));
}

static void armed_after_polling_all(void **state)
{
	assert_false(cq_arm_fires(*state, ARM(1, 5), 5));
	assert_true(cq_arm_fires(*state, ARM(1, 5), 6));
}

/* perftest -e arms again before it polls: the completion that woke it raises no second event. */
static void armed_again_before_polling(void **state)
{
	assert_true(cq_arm_fires(*state, ARM(1, 0), 1));
	assert_false(cq_arm_fires(*state, ARM(2, 0), 1));
	assert_true(cq_arm_fires(*state, ARM(2, 0), 2));
}

static void solicited_waits_for_its_kind(void **state)
{
	assert_false(cq_arm_fires(*state, FOR_SOLICITED(1, 0), 3));
	cq_arm_solicited(*state, 3);
	assert_true(cq_arm_fires(*state, FOR_SOLICITED(1, 0), 4));
}

static void solicited_before_arming_and_polled(void **state)
{
	cq_arm_solicited(*state, 0);
	assert_false(cq_arm_fires(*state, FOR_SOLICITED(1, 1), 3));
}

static void consumer_index_wraps(void **state)
{
	struct cq_arm *arm = *state;

	arm->notified = 0xfffffe;
	assert_false(cq_arm_fires(arm, ARM(1, 0xffffff), 0xffffff));
	assert_true(cq_arm_fires(arm, ARM(1, 0xffffff), 0x1000000));
	assert_true(cq_arm_fires(arm, ARM(2, 0), 0x1000001));
}

#define CASE(test) cmocka_unit_test_setup(test, setup)

UNIT_MAIN(NULL, NULL, CASE(not_armed), CASE(next_completion), CASE(once_per_sequence_number),
	  CASE(armed_after_the_completion), CASE(armed_after_polling_all),
	  CASE(armed_again_before_polling), CASE(solicited_waits_for_its_kind),
	  CASE(solicited_before_arming_and_polled), CASE(consumer_index_wraps))
