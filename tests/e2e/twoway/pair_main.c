/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Two-way QPs as one object: states, errors, events. Both ends are in one process here, on a device each. This program
 * refers to no function of receive QPs.
 */

#include <stdio.h>
#include <string.h>

#include "../emulated.h"
#include "pair.h"

void one_message(struct end *from, struct end *to)
{
	struct ibv_wc wc;

	memset(from->memory, 0x5a, 2000);
	memset(to->memory + 4096, 0, 4096);
	end_post_recv(to, 4711, 4096, 4096);
	end_send(from, IBV_WR_SEND, 0, 2000);
	wc = end_poll(from);
	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(wc.qp_num, from->qp->qp_num);
	wc = end_poll(to);
	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(wc.wr_id, 4711);
	must_eq(wc.byte_len, 2000);
	must_eq(wc.qp_num, to->qp->qp_num);
	must_eq(wc.src_qp, emulated_src_qp(to->own.srq_num, from->qp->qp_num));
	must(!memcmp(from->memory, to->memory + 4096, 2000) && !to->memory[4096 + 2000]);
}

static void fails_with(struct end *end, enum ibv_wc_status status)
{
	struct ibv_wc wc;

	end_send(end, IBV_WR_SEND, 0, 8);
	wc = end_poll(end);
	must_eq(wc.status, status);
	must_eq(wc.qp_num, end->qp->qp_num);
}

void refused(struct end *from)
{
	fails_with(from, IBV_WC_RETRY_EXC_ERR);
}

void must_flush(struct end *end)
{
	fails_with(end, IBV_WC_WR_FLUSH_ERR);
}

static const struct {
	const char *name;
	const struct row *rows;
	const size_t *count;
} groups[] = {
	{ "state", state_rows, &state_rows_count },
	{ "order", order_rows, &order_rows_count },
	{ "error", error_rows, &error_rows_count },
	{ "event", event_rows, &event_rows_count },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(groups[i].name, argv[1]))
			return rows_run(groups[i].rows, *groups[i].count, argc > 2 ? argv[2] : NULL);
	fprintf(stderr, "usage: %s state|order|error|event [PART_OF_NAME]\n", argv[0]);
	return 2;
}
