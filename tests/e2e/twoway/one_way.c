/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A one-way program: a PD, CQ, MR, XRCD, SRQ, receive QP and SENDERS sending QPs. It prints the
 * device's objects.
 */

#include <fcntl.h>

#include "end.h"
#include "receiver.h"
#include "../row.h"

#define SENDERS 3

/* Sends a message to itself, and registers with its receive QP. Returns that QP's number. */
static uint32_t send_to_itself(struct end *end)
{
	uint32_t qp_num = receive_qp(end->domain);

	connect_to_itself(end, qp_num);
	receive_through(end, qp_num);
	must_eq(ibv_reg_xrc_rcv_qp(end->domain, qp_num), 0);
	return qp_num;
}

int main(void)
{
	struct ibv_qp *others[SENDERS - 1];
	uint32_t qp_num;
	struct end end;

	row_begin("uses XRC one way");
	row_inherit("");
	end_open(&end, 0, -1, false);
	for (int i = 0; i < SENDERS - 1; i++) {
		end_create_qp(&end, 16);
		others[i] = end.qp;
	}
	end_create_qp(&end, 16);
	qp_num = send_to_itself(&end);
	row_ok();
	show_objects();
	for (int i = 0; i < SENDERS - 1; i++)
		must_eq(ibv_destroy_qp(others[i]), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
	return 0;
}
