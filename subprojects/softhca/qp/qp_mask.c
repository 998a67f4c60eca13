/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* ib_core's table of QP transitions, and the bits that uverbs changes before ib_core sees them. */
#include "qp.h"

#include <base/refuse.h>

#include <errno.h>

#define ACCESS	   IBV_QP_ACCESS_FLAGS
#define ALT	   IBV_QP_ALT_PATH
#define AV	   IBV_QP_AV
#define CUR	   IBV_QP_CUR_STATE
#define DEST_QPN   IBV_QP_DEST_QPN
#define MAX_DEST   IBV_QP_MAX_DEST_RD_ATOMIC
#define MAX_RD	   IBV_QP_MAX_QP_RD_ATOMIC
#define MIG	   IBV_QP_PATH_MIG_STATE
#define MIN_RNR	   IBV_QP_MIN_RNR_TIMER
#define MTU	   IBV_QP_PATH_MTU
#define PKEY	   IBV_QP_PKEY_INDEX
#define PORT	   IBV_QP_PORT
#define QKEY	   IBV_QP_QKEY
#define RETRY	   IBV_QP_RETRY_CNT
#define RNR_RETRY  IBV_QP_RNR_RETRY
#define RQ_PSN	   IBV_QP_RQ_PSN
#define SQD_NOTIFY IBV_QP_EN_SQD_ASYNC_NOTIFY
#define SQ_PSN	   IBV_QP_SQ_PSN
#define TIMEOUT	   IBV_QP_TIMEOUT

enum { UD, UC, RC, INI, TGT, TYPES };

struct transition {
	bool valid;
	uint32_t required[TYPES];
	uint32_t optional[TYPES];
};

#define ALL_TYPES(mask) { (mask), (mask), (mask), (mask), (mask) }
#define STATES		(IBV_QPS_ERR + 1)
#define TO_RESET_OR_ERR [IBV_QPS_RESET] = { .valid = true }, [IBV_QPS_ERR] = { .valid = true }

/* Attributes that may change while the send queue runs (RTR->RTS, RTS->RTS, SQD->RTS). */
#define RUNNING \
	{ \
		CUR | QKEY, CUR | ALT | ACCESS | MIG, CUR | ALT | ACCESS | MIG | MIN_RNR, \
			CUR | ALT | ACCESS | MIG, CUR | ALT | ACCESS | MIG | MIN_RNR \
	}

static const struct transition table[STATES][STATES] = {
	[IBV_QPS_RESET] = {
		[IBV_QPS_RESET] = { .valid = true },
		[IBV_QPS_INIT] = { true,
			.required = { PKEY | PORT | QKEY, PKEY | PORT | ACCESS,
				      PKEY | PORT | ACCESS, PKEY | PORT | ACCESS,
				      PKEY | PORT | ACCESS } },
	},
	[IBV_QPS_INIT] = {
		TO_RESET_OR_ERR,
		[IBV_QPS_INIT] = { true,
			.optional = { PKEY | PORT | QKEY, PKEY | PORT | ACCESS,
				      PKEY | PORT | ACCESS, PKEY | PORT | ACCESS,
				      PKEY | PORT | ACCESS } },
		[IBV_QPS_RTR] = { true,
			.required = { 0, AV | MTU | DEST_QPN | RQ_PSN,
				      AV | MTU | DEST_QPN | RQ_PSN | MAX_DEST | MIN_RNR,
				      AV | MTU | DEST_QPN | RQ_PSN,
				      AV | MTU | DEST_QPN | RQ_PSN | MAX_DEST | MIN_RNR },
			.optional = { PKEY | QKEY, ALT | ACCESS | PKEY, ALT | ACCESS | PKEY,
				      ALT | ACCESS | PKEY, ALT | ACCESS | PKEY } },
	},
	[IBV_QPS_RTR] = {
		TO_RESET_OR_ERR,
		[IBV_QPS_RTS] = { true,
			.required = { SQ_PSN, SQ_PSN, TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | MAX_RD,
				      TIMEOUT | RETRY | RNR_RETRY | SQ_PSN | MAX_RD,
				      TIMEOUT | SQ_PSN },
			.optional = RUNNING },
	},
	[IBV_QPS_RTS] = {
		TO_RESET_OR_ERR,
		[IBV_QPS_RTS] = { true, .optional = RUNNING },
		[IBV_QPS_SQD] = { true, .optional = ALL_TYPES(SQD_NOTIFY) },
	},
	[IBV_QPS_SQD] = {
		TO_RESET_OR_ERR,
		[IBV_QPS_RTS] = { true, .optional = RUNNING },
		[IBV_QPS_SQD] = { true,
			.optional = { PKEY | QKEY, AV | ALT | ACCESS | PKEY | MIG,
				      PORT | AV | TIMEOUT | RETRY | RNR_RETRY | MAX_RD | MAX_DEST |
				      ALT | ACCESS | PKEY |
					      MIN_RNR | MIG,
				      PORT | AV | TIMEOUT | RETRY | RNR_RETRY | MAX_RD | ALT |
				      ACCESS | PKEY | MIG,
				      PORT | AV | TIMEOUT | MAX_DEST | ALT | ACCESS | PKEY |
				      MIN_RNR | MIG } },
	},
	[IBV_QPS_SQE] = {
		TO_RESET_OR_ERR,
		[IBV_QPS_RTS] = { true, .optional = { CUR | QKEY, CUR | ACCESS, 0, 0, 0 } },
	},
	[IBV_QPS_ERR] = { TO_RESET_OR_ERR },
};

static int column(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_UD:
		return UD;
	case IBV_QPT_UC:
		return UC;
	case IBV_QPT_RC:
		return RC;
	case IBV_QPT_XRC_SEND:
		return INI;
	case IBV_QPT_XRC_RECV:
		return TGT;
	default:
		return -1;
	}
}

uint32_t qp_mask_strip(enum ibv_qp_type type, uint32_t mask)
{
	if (type == IBV_QPT_XRC_SEND)
		return mask & ~(uint32_t)(MAX_DEST | MIN_RNR);
	if (type == IBV_QPT_XRC_RECV)
		return mask & ~(uint32_t)(MAX_RD | RETRY | RNR_RETRY);
	return mask;
}

/* The name of the lowest attribute of @mask. */
static const char *first_of(uint32_t mask)
{
	static const char *const names[] = {
		"STATE", "CUR_STATE", "EN_SQD_ASYNC_NOTIFY", "ACCESS_FLAGS", "PKEY_INDEX", "PORT",
		"QKEY", "AV", "PATH_MTU", "TIMEOUT", "RETRY_CNT", "RNR_RETRY", "RQ_PSN",
		"MAX_QP_RD_ATOMIC", "ALT_PATH", "MIN_RNR_TIMER", "SQ_PSN", "MAX_DEST_RD_ATOMIC",
		"PATH_MIG_STATE", "CAP", "DEST_QPN",
	};
	unsigned int bit = (unsigned int)__builtin_ctz(mask);

	return bit < sizeof(names) / sizeof(names[0]) ? names[bit] : "unknown";
}

/* False, after a refusal that names the first of the attributes that are wrong. */
static bool not_ok(const char *check, uint32_t bits)
{
	if (bits)
		refuse(-EINVAL, "%s: %s", check, first_of(bits));
	else
		refuse(-EINVAL, "%s", check);
	return false;
}

bool qp_mask_ok(enum ibv_qp_state from, enum ibv_qp_state to, enum ibv_qp_type type, uint32_t mask)
{
	const struct transition *transition;
	int col = column(type);
	uint32_t missing, forbidden;

	if (mask & AV && to != IBV_QPS_RTR)
		mask |= PORT;
	if (col < 0 || (unsigned int)from >= STATES || (unsigned int)to >= STATES)
		return not_ok("QP type or state", 0);
	if (mask & CUR && from != IBV_QPS_RTR && from != IBV_QPS_RTS && from != IBV_QPS_SQD &&
	    from != IBV_QPS_SQE)
		return not_ok("attribute forbidden", CUR);
	transition = &table[from][to];
	if (!transition->valid)
		return not_ok("no such transition", 0);
	missing = transition->required[col] & ~mask;
	if (missing)
		return not_ok("attribute missing", missing);
	forbidden = mask & ~(transition->required[col] | transition->optional[col] | IBV_QP_STATE);
	return !forbidden || not_ok("attribute forbidden", forbidden);
}
