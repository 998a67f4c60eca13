/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Keeps a list of the domains and registrations that the program has not ended. */
#include "trace.h"

#include <tools/common/memory.h>

/* A call about the domain itself has no QP number, and concerns all its registrations. */
static bool concerns(const struct trace_record *record, const struct left *left)
{
	return left->pid == record->pid && left->domain == record->domain &&
	       (!record->qp_num || record->qp_num == left->qp_num);
}

static void remove_all(struct trace *trace, const struct trace_record *record)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->left_count; i++) {
		if (!concerns(record, &trace->left[i]))
			trace->left[kept++] = trace->left[i];
	}
	trace->left_count = kept;
}

static void add(struct trace *trace, const struct trace_record *record, unsigned int site)
{
	APPEND(trace->left, trace->left_count) = (struct left){
		site, record->verb, record->pid, record->qp_num, record->domain
	};
}

void left_account(struct trace *trace, const struct trace_record *record, unsigned int site)
{
	switch (record->verb) {
	case VERB_ibv_open_xrc_domain:
		/* The device of an old domain at this address has been closed in between. */
		remove_all(trace, record);
		add(trace, record, site);
		break;
	case VERB_ibv_create_xrc_rcv_qp:
	case VERB_ibv_reg_xrc_rcv_qp:
		/* Registering again changes nothing (contract 5.6), so the first call counts. */
		for (size_t i = 0; i < trace->left_count; i++) {
			if (concerns(record, &trace->left[i]))
				return;
		}
		add(trace, record, site);
		break;
	case VERB_ibv_close_xrc_domain:
	case VERB_ibv_unreg_xrc_rcv_qp:
		remove_all(trace, record);
		break;
	default:
		break;
	}
}
