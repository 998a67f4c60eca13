/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The number of a receive QP in completions, which GASNet compares with what ibv_create_xrc_rcv_qp
 * gave (contract 5.3).
 */

#include "end.h"
#include "receiver.h"
#include "../row.h"

ROW("a receive QP keeps its number beside an XRC QP that only receives")
{
	uint32_t qp_num, later;
	struct ibv_qp *sending, *receiving;
	struct end end;

	end_open(&end, 0, -1, false);
	end_create_qp(&end, 16);
	qp_num = receive_qp(end.domain);
	connect_to_itself(&end, qp_num);
	receive_through(&end, qp_num);
	sending = end.qp;
	/* This QP has a hidden half, so the library looks at every completion from now on. */
	end_create_qp(&end, 0);
	receiving = end.qp;
	end.qp = sending;
	receive_through(&end, qp_num);
	must_eq(ibv_destroy_qp(end.qp), 0);
	end_create_qp(&end, 16);
	later = receive_qp(end.domain);
	connect_to_itself(&end, later);
	receive_through(&end, later);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, later), 0);
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	must_eq(ibv_destroy_qp(receiving), 0);
	end_close(&end);
}
