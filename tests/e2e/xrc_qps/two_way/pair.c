/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The two sides of each row. This program calls no function of receive QPs, which makes its XRC QPs
 * two-way ones.
 */

#include <string.h>

#include <harness/emulated.h>
#include "pair.h"

struct side a, b;

static void create_qps(void)
{
	side_create_qp(&a, SIDE_DEPTH);
	side_create_qp(&b, SIDE_DEPTH);
	meet();
}

void open_sides(void)
{
	side_open(&a, 0, -1, false);
	side_open(&b, 1, -1, false);
	create_qps();
}

void close_sides(void)
{
	side_close(&a);
	side_close(&b);
}

void connect_sides(void)
{
	side_bring(&a, IBV_QPS_RTS);
	side_bring(&b, IBV_QPS_RTS);
}

void meet(void)
{
	a.peer = b.own;
	b.peer = a.own;
}

void renew_qps(void)
{
	side_destroy_qp(&a);
	side_destroy_qp(&b);
	create_qps();
}

void one_message(struct side *from, struct side *to)
{
	struct ibv_wc wc;

	memset(from->memory, 0x5a, 2000);
	memset(to->memory + 4096, 0, 4096);
	side_post_recv(to, 4711, 4096, 4096);
	side_send(from, IBV_WR_SEND, 0, 2000);
	completes_with(from, IBV_WC_SUCCESS);
	wc = side_poll(to);
	must_eq(wc.status, IBV_WC_SUCCESS);
	must_eq(wc.wr_id, 4711);
	must_eq(wc.byte_len, 2000);
	must_eq(wc.qp_num, to->qp->qp_num);
	must_eq(wc.src_qp, emulated_src_qp(to->own.srq_num, from->qp->qp_num));
	must(!memcmp(from->memory, to->memory + 4096, 2000) && !to->memory[4096 + 2000]);
}

void both_ways(void)
{
	one_message(&a, &b);
	one_message(&b, &a);
}

void completes_with(struct side *side, enum ibv_wc_status status)
{
	struct ibv_wc wc = side_poll(side);

	must_eq(wc.status, status);
	must_eq(wc.qp_num, side->qp->qp_num);
}

void must_exceed_retries(struct side *side)
{
	side_send(side, IBV_WR_SEND, 0, 8);
	completes_with(side, IBV_WC_RETRY_EXC_ERR);
}

void must_flush(struct side *side)
{
	side_send(side, IBV_WR_SEND, 0, 8);
	completes_with(side, IBV_WC_WR_FLUSH_ERR);
}
