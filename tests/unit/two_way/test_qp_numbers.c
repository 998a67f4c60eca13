/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The numbers of the QPs that a two-way program knows. */

#include <base/settings.h>
#include <two_way/qp_numbers.h>

#include <harness/unit.h>

static bool is_known(const struct ibv_context *context, uint32_t qp_num)
{
	const struct qp_numbers *numbers = qp_numbers_of(context);

	assert_non_null(numbers);
	return qp_is_known(numbers, qp_num);
}

/*
 * The kernel may reuse a number before the thread that destroyed its QP has removed it from the
 * map.
 */
TEST(a_number_is_known_until_its_last_qp_has_ended)
{
	struct ibv_context context = { 0 };

	assert_false(is_known(&context, 0x77));
	qp_number_add(&context, 0x77);
	qp_number_add(&context, 0x77);
	qp_number_remove(&context, 0x77);
	assert_true(is_known(&context, 0x77));
	qp_number_remove(&context, 0x77);
	assert_false(is_known(&context, 0x77));
	/* A removal at 0 must not wrap to 255. */
	qp_number_remove(&context, 0x77);
	assert_false(is_known(&context, 0x77));
	/* 256 additions must not wrap to 0. */
	for (int i = 0; i < 256; i++)
		qp_number_add(&context, 0x77);
	assert_true(is_known(&context, 0x77));
}

/* Two adapters may give their QPs the same numbers. */
TEST(devices_do_not_share_numbers)
{
	static struct ibv_device devices[2];
	struct ibv_context one = { .device = &devices[0] }, other = { .device = &devices[1] };

	/* Their addresses must not matter, and a number may be in any page. */
	for (uint32_t qp_num = 0x7a; qp_num < QP_NUMBERS; qp_num *= 7) {
		qp_number_add(&one, qp_num);
		for (uint32_t any = 0x7a; any < QP_NUMBERS; any *= 7)
			assert_int_equal(is_known(&one, any), any == qp_num);
		assert_false(is_known(&other, qp_num));
		qp_number_remove(&one, qp_num);
	}
}

/* A receive QP that is looked up late shows a one-way program, but the hooks stay. */
TEST(a_device_counts_on_when_the_program_is_one_way_after_all)
{
	static struct ibv_device device;
	struct ibv_context context = { .device = &device };

	qp_number_add(&context, 1);
	settings.two_way = TWO_WAY_OFF;
	qp_number_add(&context, 2);
	settings.two_way = TWO_WAY_ON;
	assert_true(is_known(&context, 2));
}

FIXTURE(setup)
{
	settings.two_way = TWO_WAY_ON;	/* only then numbers are counted */
	return 0;
}

UNIT_MAIN(setup, NULL)
