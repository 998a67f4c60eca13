/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The domains and registrations that are left at the end of a trace. */

#include <tools/trace/trace.h>

#include <stdlib.h>

#include "../unit.h"

/* In this order; @left is their number after the call. */
static const struct {
	enum verb verb;
	int pid;
	uint64_t domain;
	uint32_t qp_num;
	size_t left;
} calls[] = {
	{ VERB_ibv_open_xrc_domain, 1, 5, 0, 1 },
	{ VERB_ibv_create_xrc_rcv_qp, 1, 5, 7, 2 },
	{ VERB_ibv_reg_xrc_rcv_qp, 1, 5, 7, 2 },	/* twice is one registration */
	{ VERB_ibv_reg_xrc_rcv_qp, 1, 5, 8, 3 },
	{ VERB_ibv_reg_xrc_rcv_qp, 2, 5, 7, 4 },	/* another process */
	{ VERB_ibv_reg_xrc_rcv_qp, 1, 6, 7, 5 },	/* another domain */
	{ VERB_ibv_close_xrc_domain, 1, 6, 0, 4 },
	{ VERB_ibv_unreg_xrc_rcv_qp, 2, 5, 7, 3 },
	{ VERB_ibv_unreg_xrc_rcv_qp, 1, 5, 8, 2 },
	/* ibv_close_device is not traced; the next domain may get the same address. */
	{ VERB_ibv_open_xrc_domain, 1, 5, 0, 1 },
	{ VERB_ibv_close_xrc_domain, 1, 5, 0, 0 },
};

TEST(closed_and_unregistered_objects_are_not_left)
{
	struct left_list left = { 0 };

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trace_record record = { .verb = calls[i].verb,
					       .pid = calls[i].pid,
					       .domain = calls[i].domain,
					       .qp_num = calls[i].qp_num };

		left_account(&left, &record, 1);
		assert_int_equal(left.count, calls[i].left);
	}
	free(left.item);
}

UNIT_MAIN(NULL, NULL)
