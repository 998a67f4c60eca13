/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Handles of target QPs: the library recognises its own, their use, and the opened ones. */

#include <errno.h>

#include <modern/modern.h>
#include <modern/table.h>
#include <modern/tgt_qp.h>

#include <harness/unit.h>
#include "../common/provider.h"

static struct ibv_context *context;

FIXTURE(set_up)
{
	context = provider_open(0);
	return context ? 0 : -1;
}

TEST(created_and_opened_handles_are_told_apart)
{
	static const enum modern_tgt_use created[] = { MODERN_TGT_REGISTERED, MODERN_TGT_PAIRED };
	static const enum modern_tgt_use opened[] = { MODERN_TGT_REGISTERED, MODERN_TGT_TRANSIENT };
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp;
	uint32_t qp_num;

	assert_int_equal(modern_open_xrcd(context, -1, 0, &xrcd), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(modern_create_tgt_qp(context, xrcd, created[i], &qp), 0);
		assert_int_equal(modern_tgt_use_of(qp, &qp_num), created[i]);
		assert_false(tgt_qp_is_opened(qp));
		assert_int_equal(modern_destroy_qp(qp), 0);
		assert_int_equal(modern_open_tgt_qp(xrcd, 0x55, opened[i], &qp), 0);
		assert_int_equal(modern_tgt_use_of(qp, &qp_num), opened[i]);
		assert_int_equal(qp_num, 0x55);
		assert_true(tgt_qp_is_opened(qp));
		assert_int_equal(modern_destroy_qp(qp), 0);
	}
}

static int answer;

static int modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	(void)qp;
	(void)attr;
	(void)mask;
	return answer;
}

/* A provider does the same for the handles that it opens. */
TEST(an_opened_handle_has_the_state_that_it_was_modified_to)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTR };
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp;

	assert_int_equal(modern_open_xrcd(context, -1, 0, &xrcd), 0);
	assert_int_equal(modern_open_tgt_qp(xrcd, 0x55, MODERN_TGT_REGISTERED, &qp), 0);
	modern_table.uverbs_modify_qp = modify;
	answer = EINVAL;
	assert_int_equal(modern_modify_qp(qp, &attr, IBV_QP_STATE), -EINVAL);
	assert_int_equal(qp->state, IBV_QPS_RESET);
	answer = 0;
	assert_int_equal(modern_modify_qp(qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
	assert_int_equal(qp->state, IBV_QPS_RESET);
	assert_int_equal(modern_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(qp->state, IBV_QPS_RTR);
	assert_int_equal(modern_destroy_qp(qp), 0);
}

UNIT_MAIN(set_up, NULL)
