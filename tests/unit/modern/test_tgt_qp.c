/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Handles of target QPs: the library recognises its own, their use, and the opened ones. */

#include <modern/modern.h>
#include <modern/tgt_qp.h>

#include "../unit.h"
#include "../compat/provider.h"

static struct ibv_context *context;

FIXTURE(set_up)
{
	context = provider_open(0);
	return context ? 0 : -1;
}

TEST(created_and_opened_handles_are_told_apart)
{
	struct ibv_xrcd *xrcd;
	struct ibv_qp *qp;

	assert_int_equal(modern_open_xrcd(context, -1, 0, &xrcd), 0);
	for (int use = MODERN_TGT_REGISTERED; use <= MODERN_TGT_PAIRED; use++) {
		assert_int_equal(modern_create_tgt_qp(context, xrcd, (enum modern_tgt_use)use, &qp),
				 0);
		assert_int_equal(modern_tgt_use_of(qp), use);
		assert_false(tgt_qp_is_opened(qp));
		assert_int_equal(modern_destroy_qp(qp), 0);
		assert_int_equal(modern_open_tgt_qp(xrcd, 0x55, (enum modern_tgt_use)use, &qp), 0);
		assert_int_equal(modern_tgt_use_of(qp), use);
		assert_true(tgt_qp_is_opened(qp));
		assert_int_equal(modern_destroy_qp(qp), 0);
	}
}

UNIT_MAIN(set_up, NULL)
