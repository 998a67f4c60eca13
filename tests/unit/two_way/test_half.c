/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * half_mask() removes the attribute bits that today's kernel refuses (contract 5.9). The test "shim
 * contract" asserts this for most transitions; this file has the others.
 */

#include <errno.h>

#include <harness/unit.h>
#include <abi/rc_masks.h>
#include <two_way/half.h>

#define REFUSED (-1)

struct row {
	const char *name;
	enum half_role role;
	enum ibv_qp_state from, to;
	int mask;
	int want; /* modern mask, or REFUSED */
};

static const struct row rows[] = {
	{ "initiator to RTR: without the responder's attributes", HALF_INITIATOR, IBV_QPS_INIT,
	  IBV_QPS_RTR, MASK_RTR, MASK_RTR & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) },
	{ "target to RTS: without the requester's attributes", HALF_TARGET, IBV_QPS_RTR,
	  IBV_QPS_RTS, MASK_RTS, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN },
	{ "initiator in RTS: APM", HALF_INITIATOR, IBV_QPS_RTS, IBV_QPS_RTS,
	  IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE },
	{ "SQE to RTS", HALF_INITIATOR, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_STATE, IBV_QP_STATE },
	{ "SQE to RTS with ACCESS_FLAGS, which only UC takes", HALF_INITIATOR, IBV_QPS_SQE,
	  IBV_QPS_RTS, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS, REFUSED },
	{ "SQE to RTS with QKEY, which only UD takes", HALF_INITIATOR, IBV_QPS_SQE, IBV_QPS_RTS,
	  IBV_QP_STATE | IBV_QP_QKEY, REFUSED },
	{ "SQE to RTS with what RTR to RTS takes", HALF_INITIATOR, IBV_QPS_SQE, IBV_QPS_RTS,
	  IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER, REFUSED },
	{ "initiator SQD to SQD: without the responder's attributes", HALF_INITIATOR, IBV_QPS_SQD,
	  IBV_QPS_SQD, IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_TIMEOUT,
	  IBV_QP_TIMEOUT },
	{ "initiator to SQD with EN_SQD_ASYNC_NOTIFY", HALF_INITIATOR, IBV_QPS_RTS, IBV_QPS_SQD,
	  IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY },
	/* From RTR this mask lacks required bits. */
	{ "cur_qp_state, SQD, replaces the known state", HALF_INITIATOR, IBV_QPS_RTR, IBV_QPS_RTS,
	  IBV_QP_STATE | IBV_QP_CUR_STATE, IBV_QP_STATE | IBV_QP_CUR_STATE },
	{ "RTR to RTR: two processes of GASNet connect one receive QP", HALF_TARGET, IBV_QPS_RTR,
	  IBV_QPS_RTR, MASK_RTR, REFUSED },
	{ "RESET to ERR, which OFED did not have", HALF_TARGET, IBV_QPS_RESET, IBV_QPS_ERR,
	  IBV_QP_STATE, REFUSED },
	{ "to a state that does not exist", HALF_TARGET, IBV_QPS_RTS, (enum ibv_qp_state) - 1,
	  IBV_QP_STATE, REFUSED },
	{ "RATE_LIMIT, which OFED did not have", HALF_INITIATOR, IBV_QPS_RTS, IBV_QPS_RTS,
	  IBV_QP_RATE_LIMIT, REFUSED },
};

TEST(each_transition_gets_todays_mask_or_is_refused)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ibv_qp_attr attr = { .qp_state = rows[i].to, .cur_qp_state = IBV_QPS_SQD };
		int modern_mask = 0x5a5a;
		const struct half half = { .role = rows[i].role, .state = rows[i].from };
		int err = half_mask(&half, &attr, rows[i].mask, &modern_mask);

		print_message("  %s\n", rows[i].name);
		if (rows[i].want == REFUSED) {
			assert_int_equal(err, -EINVAL);
			assert_int_equal(modern_mask, 0x5a5a);
		} else {
			assert_int_equal(err, 0);
			assert_int_equal(modern_mask, rows[i].want);
		}
	}
}

UNIT_MAIN(NULL, NULL)
