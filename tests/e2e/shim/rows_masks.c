/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Contract 5.9: the attribute masks that old programs pass for XRC QPs and for
 * receive QPs.
 */

#define GROUP "masks"

#include <stdio.h>

#include <harness/emulated.h>
#include "row.h"

/* One modify; it changes no state if its mask lacks IBV_QP_STATE. Lists end with mask 0. */
struct step {
	enum ibv_qp_state state;
	int mask, want;
};

/* Ports of the address vectors, and of the alternate path. */
static uint8_t vector_port = 1, alt_port = 1;

static void try_modify(struct actor *actor, struct request qp, struct step step,
		       enum ibv_qp_state now)
{
	char text[64];

	snprintf(text, sizeof(text), "%s from %d to %d with mask 0x%x", qp.name, (int)now,
		 (int)step.state, (unsigned)step.mask);
	qp.attr = attr_to(step.state, actor);
	qp.attr.cur_qp_state = now;
	qp.attr.ah_attr.port_num = vector_port;
	qp.attr.alt_ah_attr = qp.attr.ah_attr;
	qp.attr.alt_port_num = alt_port;
	qp.attr.alt_timeout = 10;
	qp.attr.path_mig_state = IBV_MIG_REARM;
	qp.mask = step.mask;
	row_expect(__FILE__, __LINE__, text, actor_ask(actor, qp), step.want, true);
}

static void walk(struct actor *actor, struct request qp, const struct step *step)
{
	enum ibv_qp_state now = IBV_QPS_RESET;

	for (; step->mask; step++) {
		try_modify(actor, qp, *step, now);
		if (!step->want && step->mask & IBV_QP_STATE)
			now = step->state;
	}
}

/* Walks an XRC QP, a receive QP, and a receive QP of a process that is not registered with it. */
static void walk_each(const struct step *steps)
{
	struct actor *a = with_domain(), *b = with_domain();

	expect_ok(create_qp(a, 0, D));
	walk(a, QP(0), steps);
	walk(a, RCV_QP(new_rcv_qp(a)), steps);
	walk(b, RCV_QP(new_rcv_qp(a)), steps);
}

#define TO_INIT { IBV_QPS_INIT, MASK_INIT, 0 }
#define TO_RTR { IBV_QPS_RTR, MASK_RTR, 0 }
#define TO_RTS { IBV_QPS_RTS, MASK_RTS, 0 }

/* Adds a modify without each bit but IBV_QP_STATE, which is EINVAL, and then one with all. */
static struct step *lacking_one_bit(struct step *step, enum ibv_qp_state state)
{
	int mask = mask_to(state);

	for (int bit = IBV_QP_STATE << 1; bit <= mask; bit <<= 1)
		if (mask & bit)
			*step++ = (struct step){ state, mask & ~bit, EINVAL };
	*step++ = (struct step){ state, mask, 0 };
	return step;
}

ROW("5.9", "a QP refuses a transition up to RTS that lacks one bit of RC's mask")
{
	struct step steps[32] = { { 0 } }, *end = steps;

	for (enum ibv_qp_state state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++)
		end = lacking_one_bit(end, state);
	walk_each(steps);
}

#define RTS_OPTIONAL (IBV_QP_CUR_STATE | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | \
		      IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE)

ROW("5.9", "a QP accepts the optional bits of each transition up to RTS")
{
	static const struct step steps[] = {
		TO_INIT,
		TO_INIT,
		{ IBV_QPS_RTR,
		  MASK_RTR | IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX, 0 },
		{ IBV_QPS_RTS, MASK_RTS | RTS_OPTIONAL, 0 },
		{ IBV_QPS_RTS, IBV_QP_STATE | RTS_OPTIONAL, 0 },
		{ IBV_QPS_RTS, RTS_OPTIONAL, 0 },
		{ IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER, 0 },
		{ 0 }
	};

	walk_each(steps);
}

ROW("5.9", "a QP refuses bits that are not of the transition")
{
	static const struct step steps[] = {
		{ IBV_QPS_INIT, MASK_INIT | IBV_QP_AV, EINVAL },
		{ IBV_QPS_INIT, MASK_INIT | IBV_QP_QKEY, EINVAL },
		{ IBV_QPS_INIT, MASK_INIT | IBV_QP_MIN_RNR_TIMER, EINVAL },
		TO_INIT,
		{ IBV_QPS_RTR, MASK_RTR | IBV_QP_TIMEOUT, EINVAL },
		{ IBV_QPS_RTR, MASK_RTR | IBV_QP_PORT, EINVAL },
		TO_RTR,
		{ IBV_QPS_RTS, MASK_RTS | IBV_QP_MAX_DEST_RD_ATOMIC, EINVAL },
		{ IBV_QPS_RTS, MASK_RTS | IBV_QP_DEST_QPN, EINVAL },
		TO_RTS,
		{ IBV_QPS_RTS, MASK_RTS, EINVAL },	/* RTS to RTS has other bits */
		{ 0 }
	};

	walk_each(steps);
}

ROW("5.9", "a QP refuses to skip a state, to go back to INIT, and unknown states")
{
	static const struct step steps[] = {
		{ IBV_QPS_RTR, MASK_RTR, EINVAL },
		{ IBV_QPS_RTR, MASK_RTR | MASK_INIT, EINVAL },
		{ IBV_QPS_RTS, MASK_RTS, EINVAL },
		TO_INIT,
		{ IBV_QPS_RTS, MASK_RTS, EINVAL },
		TO_RTR,
		{ IBV_QPS_INIT, MASK_INIT, EINVAL },
		{ (enum ibv_qp_state)7, IBV_QP_STATE, EINVAL },
		{ (enum ibv_qp_state)-1, IBV_QP_STATE, EINVAL },
		{ 0 }
	};

	walk_each(steps);
}

ROW("5.9", "a QP goes to ERR and back to RESET")
{
	static const struct step steps[] = {
		TO_INIT,
		{ IBV_QPS_ERR, IBV_QP_STATE | IBV_QP_PORT, EINVAL },
		{ IBV_QPS_ERR, IBV_QP_STATE, 0 },
		{ IBV_QPS_RESET, IBV_QP_STATE, 0 },
		TO_INIT,
		TO_RTR,
		{ IBV_QPS_RESET, IBV_QP_STATE, 0 },
		TO_INIT,
		{ 0 }
	};

	walk_each(steps);
}

/* MVAPICH2 1.7 leaves the ports of both vectors 0: OFED's mlx4 never read them. */
static void accepts_vector_port(uint8_t port)
{
	const int in_sqd = emulated_drains() ? 0 : EINVAL;
	const struct step steps[] = {
		TO_INIT,
		{ IBV_QPS_RTR, MASK_RTR | IBV_QP_ALT_PATH, 0 },
		TO_RTS,
		{ IBV_QPS_SQD, IBV_QP_STATE, in_sqd },
		{ IBV_QPS_SQD, IBV_QP_AV, in_sqd },
		{ IBV_QPS_SQD, IBV_QP_AV | IBV_QP_PORT, in_sqd },
		{ IBV_QPS_SQD, IBV_QP_ALT_PATH, 0 },
		{ 0 }
	};

	vector_port = port;
	walk_each(steps);
}

ROW_CALL("5.9", "a QP accepts address vectors with port 0", accepts_vector_port(0))
ROW_CALL("5.9", "a QP accepts address vectors with port 77, which no device has",
	 accepts_vector_port(77))

ROW("5.9", "a QP refuses port 0 of an alternate path")
{
	static const struct step steps[] = {
		TO_INIT,
		{ IBV_QPS_RTR, MASK_RTR | IBV_QP_ALT_PATH, EINVAL },
		TO_RTR,
		{ 0 }
	};

	alt_port = 0;
	walk_each(steps);
}
