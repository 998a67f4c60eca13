/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The domains and registrations that are left at the end of a trace. */
#define UNIT_TEARDOWN tear_down

#include <tools/trace/trace.h>

#include <stdlib.h>

#include "../unit.h"

static struct left_list left;

FIXTURE(tear_down)
{
	free(left.item);
	left = (struct left_list){ 0 };
	return 0;
}

static void call(enum verb which, int pid, uint64_t domain, uint32_t qp_num)
{
	struct trace_record record = {
		.verb = which, .pid = pid, .domain = domain, .qp_num = qp_num
	};

	left_account(&left, &record, 1);
}

TEST(closed_and_unregistered_objects_are_not_left)
{
	call(VERB_ibv_open_xrc_domain, 1, 5, 0);
	call(VERB_ibv_create_xrc_rcv_qp, 1, 5, 7);
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 8);
	assert_int_equal(left.count, 3);
	call(VERB_ibv_unreg_xrc_rcv_qp, 1, 5, 8);
	call(VERB_ibv_unreg_xrc_rcv_qp, 1, 5, 7);
	assert_int_equal(left.count, 1);
	call(VERB_ibv_close_xrc_domain, 1, 5, 0);
	assert_int_equal(left.count, 0);
}

TEST(registering_twice_is_one_registration)
{
	call(VERB_ibv_create_xrc_rcv_qp, 1, 5, 7);
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7);
	assert_int_equal(left.count, 1);
	assert_int_equal(left.item[0].verb, VERB_ibv_create_xrc_rcv_qp);
	call(VERB_ibv_unreg_xrc_rcv_qp, 1, 5, 7);
	assert_int_equal(left.count, 0);
}

TEST(processes_and_domains_are_separate)
{
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7);
	call(VERB_ibv_reg_xrc_rcv_qp, 2, 5, 7);
	call(VERB_ibv_reg_xrc_rcv_qp, 1, 6, 7);
	assert_int_equal(left.count, 3);
	call(VERB_ibv_unreg_xrc_rcv_qp, 2, 5, 7);
	call(VERB_ibv_close_xrc_domain, 1, 6, 0);
	assert_int_equal(left.count, 1);
	assert_int_equal(left.item[0].pid, 1);
	assert_int_equal(left.item[0].domain, 5);
}

/* ibv_close_device ends a domain, and is not traced; the next domain may get the same address. */
TEST(a_domain_at_a_reused_address_replaces_the_old_one)
{
	call(VERB_ibv_open_xrc_domain, 1, 5, 0);
	call(VERB_ibv_create_xrc_rcv_qp, 1, 5, 7);
	call(VERB_ibv_open_xrc_domain, 1, 5, 0);
	assert_int_equal(left.count, 1);
	assert_int_equal(left.item[0].verb, VERB_ibv_open_xrc_domain);
}

UNIT_MAIN(NULL, NULL)
