/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Two-way QPs as one object: states, errors, events. Both ends are in one process here, on a device
 * each. This program calls no function of receive QPs, which makes its XRC QPs two-way ones.
 */

#include <string.h>

#include "../../emulated.h"
#include "pair.h"

void one_message(struct end *from, struct end *to)
{
	struct ibv_wc wc;

	memset(from->memory, 0x5a, 2000);
	memset(to->memory + 4096, 0, 4096);
	end_post_recv(to, 4711, 4096, 4096);
	end_send(from, IBV_WR_SEND, 0, 2000);
	completes_with(from, IBV_WC_SUCCESS);
	wc = end_poll(to);
	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(wc.wr_id, 4711);
	must_eq(wc.byte_len, 2000);
	must_eq(wc.qp_num, to->qp->qp_num);
	must_eq(wc.src_qp, emulated_src_qp(to->own.srq_num, from->qp->qp_num));
	must(!memcmp(from->memory, to->memory + 4096, 2000) && !to->memory[4096 + 2000]);
}

void both_ways(struct end *first, struct end *second)
{
	one_message(first, second);
	one_message(second, first);
}

void completes_with(struct end *end, enum ibv_wc_status status)
{
	struct ibv_wc wc = end_poll(end);

	must_eq(wc.status, status);
	must_eq(wc.qp_num, end->qp->qp_num);
}

void must_exceed_retries(struct end *end)
{
	end_send(end, IBV_WR_SEND, 0, 8);
	completes_with(end, IBV_WC_RETRY_EXC_ERR);
}

void must_flush(struct end *end)
{
	end_send(end, IBV_WR_SEND, 0, 8);
	completes_with(end, IBV_WC_WR_FLUSH_ERR);
}
