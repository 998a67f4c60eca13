/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The number of a receive QP in completions, which GASNet compares with what ibv_create_xrc_rcv_qp
 * gave (contract 5.3).
 */

#include "end.h"
#include "receiver.h"
#include "../row.h"

/* Such a QP has a hidden half, and so the library looks at every completion from then on. */
static struct ibv_qp *create_receiving(struct end *end)
{
	struct ibv_qp_init_attr init_attr = {
		.send_cq = end->cq,
		.recv_cq = end->cq,
		.qp_type = IBV_QPT_XRC,
		.xrc_domain = end->domain,
	};
	struct ibv_qp *qp = ibv_create_qp(end->pd, &init_attr);

	must(qp);
	return qp;
}

ROW("a receive QP keeps its number beside an XRC QP that only receives")
{
	uint32_t qp_num, later;
	struct ibv_qp *receiving;
	struct end end;

	end_open(&end, 0, -1, false);
	end_create_qp(&end, 16);
	qp_num = receive_qp(end.domain);
	connect_to_itself(&end, qp_num);
	receive_through(&end, qp_num);
	receiving = create_receiving(&end);
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

int main(int argc, char **argv)
{
	return rows_main(argc, argv);
}
