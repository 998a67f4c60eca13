/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The attribute masks of today's kernel. The rows that programs reach with libibverbs are in
 * refusals_modify.c.
 */

#include <qp/qp.h>

#include <harness/unit.h>

#define INIT  (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR   (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define RESP  (IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RETRY (IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC)
#define RTS   (IBV_QP_TIMEOUT | IBV_QP_SQ_PSN)

static const struct {
	enum ibv_qp_type type;
	enum ibv_qp_state from, to;
	uint32_t mask;
	bool ok;
} rows[] = {
	{ IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, INIT, true },
	{ IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, INIT | IBV_QP_QKEY, false },
	{ IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY,
	  true },
	{ IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, RTR | RESP, true },
	{ IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR, RTR, false },
	{ IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR, RTR, true },
	{ IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR, RTR | RESP, false },
	{ IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, true },
	{ IBV_QPT_XRC_SEND, IBV_QPS_INIT, IBV_QPS_RTR, RTR, true },
	{ IBV_QPT_XRC_SEND, IBV_QPS_INIT, IBV_QPS_RTR, RTR | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS,
	  true },
	{ IBV_QPT_XRC_RECV, IBV_QPS_INIT, IBV_QPS_RTR, RTR | IBV_QP_MIN_RNR_TIMER, false },
	{ IBV_QPT_XRC_RECV, IBV_QPS_INIT, IBV_QPS_RTR, RTR | IBV_QP_MAX_DEST_RD_ATOMIC, false },
	{ IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS, RTS | RETRY | IBV_QP_MIN_RNR_TIMER, true },
	{ IBV_QPT_XRC_SEND, IBV_QPS_RTR, IBV_QPS_RTS, RTS | RETRY | IBV_QP_MIN_RNR_TIMER, false },
	{ IBV_QPT_XRC_RECV, IBV_QPS_RTR, IBV_QPS_RTS, RTS | IBV_QP_MIN_RNR_TIMER, true },
	{ IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, true },
	{ IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE, true },
	{ IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY, true },
	{ IBV_QPT_RC, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_AV, true },
	{ IBV_QPT_UC, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_AV, false },
	{ IBV_QPT_UC, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_ALT_PATH, true },
	{ IBV_QPT_XRC_SEND, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_TIMEOUT | IBV_QP_AV, true },
	{ IBV_QPT_XRC_SEND, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_MIN_RNR_TIMER, false },
	{ IBV_QPT_XRC_RECV, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_MIN_RNR_TIMER, true },
	{ IBV_QPT_XRC_RECV, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_RETRY_CNT, false },
	{ IBV_QPT_UC, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS, true },
	{ IBV_QPT_UC, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_QKEY, false },
	{ IBV_QPT_UD, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_CUR_STATE | IBV_QP_QKEY, true },
	{ IBV_QPT_UD, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_ACCESS_FLAGS, false },
	{ IBV_QPT_RC, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_CUR_STATE, false },
	{ IBV_QPT_XRC_SEND, IBV_QPS_SQE, IBV_QPS_RTS, IBV_QP_ACCESS_FLAGS, false },
	{ IBV_QPT_RC, IBV_QPS_ERR, IBV_QPS_ERR, 0, true },
	{ IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RESET, IBV_QP_CUR_STATE, false },
	{ IBV_QPT_RAW_PACKET, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PORT, false },
	{ IBV_QPT_RC, IBV_QPS_RTS, (enum ibv_qp_state)9, 0, false },
};

TEST(each_transition_takes_its_masks_only)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (qp_mask_ok(rows[i].from, rows[i].to, rows[i].type, rows[i].mask) != rows[i].ok)
			fail_msg("type %d, %d to %d, mask %#x should be %s", rows[i].type,
				 rows[i].from, rows[i].to, rows[i].mask,
				 rows[i].ok ? "accepted" : "refused");
	}
}

TEST(bits_that_uverbs_removes)
{
	assert_int_equal(qp_mask_strip(IBV_QPT_XRC_SEND, RTR | RESP), RTR);
	assert_int_equal(qp_mask_strip(IBV_QPT_XRC_RECV, RTS | RETRY), RTS);
	assert_int_equal(qp_mask_strip(IBV_QPT_XRC_RECV, RTR | RESP), RTR | RESP);
	assert_int_equal(qp_mask_strip(IBV_QPT_RC, RTS | RETRY), RTS | RETRY);
	assert_int_equal(qp_mask_strip(IBV_QPT_UC, RTR | RESP), RTR | RESP);
}

UNIT_MAIN(NULL, NULL)
