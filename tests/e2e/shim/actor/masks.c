/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Tries attribute masks bit by bit. */

#include <stdio.h>

#include "../../emulated.h"
#include "masks.h"
#include "row.h"

static const char *mask_text(int mask)
{
	static char texts[4][16];
	static unsigned next;
	char *text = texts[next++ & 3];

	snprintf(text, sizeof(texts[0]), "0x%x", (unsigned)mask);
	return text;
}

static void expect_modify(modify_fn *modify, const struct ibv_qp_attr *attr, int mask, int want)
{
	row_expect(__FILE__, __LINE__, mask_text(mask), modify(attr, mask), want, true);
}

static void expect_transition(modify_fn *modify, enum ibv_qp_state state, const struct actor *peer)
{
	struct ibv_qp_attr attr = attr_to(state, peer, PEER_QPN);

	expect_modify(modify, &attr, mask_to(state), 0);
}

void masks_required(modify_fn *modify, struct ibv_qp_attr attr, int mask)
{
	for (int bit = IBV_QP_STATE << 1; bit <= mask; bit <<= 1)
		if (mask & bit)
			expect_modify(modify, &attr, mask & ~bit, EINVAL);
	expect_modify(modify, &attr, mask, 0);
}

#define RTS_OPTIONAL (IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | \
		      IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE)

void masks_optional(modify_fn *modify, const struct actor *peer)
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR, peer, PEER_QPN);

	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_port_num = 1;
	attr.alt_timeout = 10;
	attr.path_mig_state = IBV_MIG_REARM;
	expect_transition(modify, IBV_QPS_INIT, peer);
	expect_transition(modify, IBV_QPS_INIT, peer);	/* INIT to INIT */
	expect_modify(modify, &attr,
		      MASK_RTR | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX, 0);
	attr.cur_qp_state = IBV_QPS_RTR;
	attr.qp_state = IBV_QPS_RTS;
	expect_modify(modify, &attr, MASK_RTS | RTS_OPTIONAL, 0);
	attr.cur_qp_state = IBV_QPS_RTS;
	expect_modify(modify, &attr, IBV_QP_STATE | RTS_OPTIONAL, 0);	/* RTS to RTS */
	expect_modify(modify, &attr, RTS_OPTIONAL, 0);			/* stays in RTS */
	expect_modify(modify, &attr, IBV_QP_MIN_RNR_TIMER, 0);
}

void masks_foreign(modify_fn *modify, const struct actor *peer)
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_INIT, peer, PEER_QPN);

	expect_modify(modify, &attr, MASK_INIT | IBV_QP_AV, EINVAL);
	expect_modify(modify, &attr, MASK_INIT | IBV_QP_QKEY, EINVAL);
	expect_modify(modify, &attr, MASK_INIT | IBV_QP_MIN_RNR_TIMER, EINVAL);
	expect_transition(modify, IBV_QPS_INIT, peer);
	attr.qp_state = IBV_QPS_RTR;
	expect_modify(modify, &attr, MASK_RTR | IBV_QP_TIMEOUT, EINVAL);
	expect_modify(modify, &attr, MASK_RTR | IBV_QP_PORT, EINVAL);
	expect_transition(modify, IBV_QPS_RTR, peer);
	attr.qp_state = IBV_QPS_RTS;
	expect_modify(modify, &attr, MASK_RTS | IBV_QP_MAX_DEST_RD_ATOMIC, EINVAL);
	expect_modify(modify, &attr, MASK_RTS | IBV_QP_DEST_QPN, EINVAL);
	expect_modify(modify, &attr, MASK_RTS, 0);
	expect_modify(modify, &attr, MASK_RTS, EINVAL);	/* RTS to RTS has other bits */
}

void masks_refused_states(modify_fn *modify, const struct actor *peer)
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR, peer, PEER_QPN);

	expect_modify(modify, &attr, MASK_RTR, EINVAL);
	expect_modify(modify, &attr, MASK_RTR | MASK_INIT, EINVAL);
	attr.qp_state = IBV_QPS_RTS;
	expect_modify(modify, &attr, MASK_RTS, EINVAL);
	expect_transition(modify, IBV_QPS_INIT, peer);
	expect_modify(modify, &attr, MASK_RTS, EINVAL);
	expect_transition(modify, IBV_QPS_RTR, peer);
	attr.qp_state = IBV_QPS_INIT;
	expect_modify(modify, &attr, MASK_INIT, EINVAL);
	attr.qp_state = (enum ibv_qp_state)7;
	expect_modify(modify, &attr, IBV_QP_STATE, EINVAL);
	attr.qp_state = (enum ibv_qp_state)-1;
	expect_modify(modify, &attr, IBV_QP_STATE, EINVAL);
}

void masks_error_and_back(modify_fn *modify, const struct actor *peer)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	expect_transition(modify, IBV_QPS_INIT, peer);
	expect_modify(modify, &attr, IBV_QP_STATE | IBV_QP_PORT, EINVAL);
	expect_modify(modify, &attr, IBV_QP_STATE, 0);
	attr.qp_state = IBV_QPS_RESET;
	expect_modify(modify, &attr, IBV_QP_STATE, 0);
	expect_transition(modify, IBV_QPS_INIT, peer);
	expect_transition(modify, IBV_QPS_RTR, peer);
	expect_modify(modify, &attr, IBV_QP_STATE, 0);
	expect_transition(modify, IBV_QPS_INIT, peer);
}

/* MVAPICH2 1.7 leaves the ports of both vectors 0: OFED's mlx4 never read them. */
static void set_vector_ports(struct ibv_qp_attr *attr, uint8_t wrong)
{
	attr->ah_attr.port_num = wrong;
	attr->alt_ah_attr = attr->ah_attr;
	attr->alt_port_num = 1;
	attr->alt_timeout = 10;
}

void masks_ports_of_vectors(modify_fn *modify, const struct actor *peer, uint8_t wrong)
{
	struct ibv_qp_attr attr = attr_to(IBV_QPS_RTR, peer, PEER_QPN);

	expect_transition(modify, IBV_QPS_INIT, peer);
	set_vector_ports(&attr, wrong);
	expect_modify(modify, &attr, MASK_RTR | IBV_QP_ALT_PATH, 0);
	expect_transition(modify, IBV_QPS_RTS, peer);
	attr = (struct ibv_qp_attr){ .qp_state = IBV_QPS_SQD };
	expect_modify(modify, &attr, IBV_QP_STATE, emulated_drains() ? 0 : EINVAL);
	if (!emulated_drains())
		return;
	attr = attr_to(IBV_QPS_RTR, peer, PEER_QPN);
	set_vector_ports(&attr, wrong);
	attr.port_num = 1;
	expect_modify(modify, &attr, IBV_QP_AV, 0);
	expect_modify(modify, &attr, IBV_QP_AV | IBV_QP_PORT, 0);
	expect_modify(modify, &attr, IBV_QP_ALT_PATH, 0);
	attr.alt_port_num = 0;
	expect_modify(modify, &attr, IBV_QP_ALT_PATH, EINVAL);
}
