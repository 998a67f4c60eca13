/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The census of traced calls: which calls have one call site, and which objects are left at the
 * end.
 */
#include <tools/trace/trace.h>

#include "../unit.h"

static struct trace_census census;

FIXTURE(set_up)
{
	census = (struct trace_census){ 0 };
	return 0;
}

FIXTURE(tear_down)
{
	trace_census_free(&census);
	return 0;
}

static const struct trace_site *call_at(enum verb call, int pid, uint64_t domain, uint32_t qp_num,
					int64_t result, uint64_t offset)
{
	struct trace_record record = { .verb = call,
				       .pid = pid,
				       .domain = domain,
				       .qp_num = qp_num,
				       .result = result,
				       .frame_count = 1,
				       .duration = 10,
				       .frames = { { .offset = offset, .module = "program" } } };

	return trace_count(&census, &record);
}

static const struct trace_site *call(enum verb which, int pid, uint64_t domain, uint32_t qp_num,
				     int64_t result)
{
	return call_at(which, pid, domain, qp_num, result, 1 + (uint64_t)which);
}

TEST(test_places)
{
	const struct trace_site *site = call_at(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7, 0, 100);

	assert_ptr_equal(call_at(VERB_ibv_reg_xrc_rcv_qp, 2, 6, 8, 22, 100), site);
	assert_ptr_not_equal(call_at(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7, 0, 101), site);
	assert_ptr_not_equal(call_at(VERB_ibv_unreg_xrc_rcv_qp, 1, 5, 7, 0, 100), site);
	assert_int_equal(site->calls, 2);
	assert_int_equal(site->failures, 1);
	assert_int_equal(site->duration, 20);
	assert_int_equal(census.calls, 4);
	assert_int_equal(census.sites[2]->number, 3);
}

TEST(test_what_is_undone_is_not_left)
{
	call(VERB_ibv_open_xrc_domain, 1, 5, 0, 5);
	call(VERB_ibv_create_xrc_rcv_qp, 1, 5, 7, 0);
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 8, 0);
	assert_int_equal(census.left_count, 3);
	call(VERB_ibv_unreg_xrc_rcv_qp, 1, 5, 8, 0);
	call(VERB_ibv_unreg_xrc_rcv_qp, 1, 5, 7, 0);
	assert_int_equal(census.left_count, 1);
	call(VERB_ibv_close_xrc_domain, 1, 5, 0, 0);
	assert_int_equal(census.left_count, 0);
}

TEST(test_failures_change_nothing)
{
	call(VERB_ibv_open_xrc_domain, 1, 0, 0, 0);
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7, 22);
	assert_int_equal(census.left_count, 0);
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7, 0);
	call(VERB_ibv_unreg_xrc_rcv_qp, 1, 5, 7, 22);
	call(VERB_ibv_close_xrc_domain, 1, 5, 0, 16);
	assert_int_equal(census.left_count, 1);
}

TEST(test_registering_again_is_one_registration)
{
	call(VERB_ibv_create_xrc_rcv_qp, 1, 5, 7, 0);
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7, 0);
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7, 0);
	assert_int_equal(census.left_count, 1);
	assert_int_equal(census.left[0]->record.verb, VERB_ibv_create_xrc_rcv_qp);
	call(VERB_ibv_unreg_xrc_rcv_qp, 1, 5, 7, 0);
	assert_int_equal(census.left_count, 0);
}

TEST(test_processes_and_domains_are_apart)
{
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7, 0);
	call(VERB_ibv_reg_xrc_rcv_qp, 2, 5, 7, 0);
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 6, 7, 0);
	assert_int_equal(census.left_count, 3);
	call(VERB_ibv_unreg_xrc_rcv_qp, 2, 5, 7, 0);
	call(VERB_ibv_close_xrc_domain, 1, 6, 0, 0);
	assert_int_equal(census.left_count, 1);
	assert_int_equal(census.left[0]->record.pid, 1);
	assert_int_equal(census.left[0]->record.domain, 5);
}

/* ibv_close_device ends a domain, and is not traced; the next domain may get the same address. */
TEST(test_an_address_that_comes_again)
{
	call(VERB_ibv_open_xrc_domain, 1, 5, 0, 5);
	call(VERB_ibv_create_xrc_rcv_qp, 1, 5, 7, 0);
	call(VERB_ibv_open_xrc_domain, 1, 5, 0, 5);
	assert_int_equal(census.left_count, 1);
	assert_int_equal(census.left[0]->record.verb, VERB_ibv_open_xrc_domain);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

UNIT_MAIN(NULL, NULL, CASE(test_places), CASE(test_what_is_undone_is_not_left),
	  CASE(test_failures_change_nothing), CASE(test_registering_again_is_one_registration),
	  CASE(test_processes_and_domains_are_apart),
	  CASE(test_an_address_that_comes_again))
