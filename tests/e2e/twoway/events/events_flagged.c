/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The content of events. The contract's rows assert which registrants get them, and how they are
 * acknowledged.
 */

#define GROUP "flagged"

#include <string.h>

#include "events.h"

static const struct {
	const char *name;
	enum ibv_event_type type;
} kinds[] = {
	{ "qp_fatal", IBV_EVENT_QP_FATAL },
	{ "qp_req_err", IBV_EVENT_QP_REQ_ERR },
	{ "qp_access_err", IBV_EVENT_QP_ACCESS_ERR },
	{ "comm_est", IBV_EVENT_COMM_EST },
	{ "sq_drained", IBV_EVENT_SQ_DRAINED },
	{ "path_mig", IBV_EVENT_PATH_MIG },
	{ "path_mig_err", IBV_EVENT_PATH_MIG_ERR },
	{ "last_wqe_reached", IBV_EVENT_QP_LAST_WQE_REACHED },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

ROW("each event of a receive QP has the flag and the QP number")
{
	struct ibv_async_event event;
	struct end end;
	uint32_t qp_num;

	end_open(&end, 0, -1, false);
	qp_num = receive_qp(end.domain);
	for (size_t i = 0; i < KINDS; i++) {
		inject_event(0, kinds[i].name, qp_num);
		memset(&event, 0xff, sizeof(event));
		must_eq(ibv_get_async_event(end.context, &event), 0);
		must_eq((uint32_t)event.event_type, flagged(kinds[i].type));
		must_eq(event_number(&event), qp_num);
		ibv_ack_async_event(&event);
		end_no_event(&end, 0);
	}
	must_eq(ibv_unreg_xrc_rcv_qp(end.domain, qp_num), 0);
	end_close(&end);
}

ROW("an ordinary SRQ's event carries the program's pointer")
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_async_event event;
	struct ibv_srq *plain;
	struct end end;

	end_open(&end, 0, -1, false);
	plain = ibv_create_srq(end.pd, &attr);
	must(plain);
	/*
	 * The plain SRQ got the next number: they are given out in order, and no other program uses
	 * this device.
	 */
	inject_event(0, "srq_limit_reached", end.own.srq_num + 1);
	event = end_event(&end);
	must_eq(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	must(event.element.srq == plain);
	ibv_ack_async_event(&event);
	must_eq(ibv_destroy_srq(plain), 0);
	end_close(&end);
}
