/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What an actor does with QPs: receive QPs by number, and an XRC QP of its own. The masks are those
 * of OFED's time.
 */
#include "actor.h"

#include <errno.h>

#define PSN 0x5e1f
#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define RTR_MASK (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | \
		  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)
#define RTS_MASK (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
		  IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)

static struct ibv_qp_attr init_attr(void)
{
	return (struct ibv_qp_attr){ .qp_state = IBV_QPS_INIT, .port_num = mine.port };
}

static struct ibv_qp_attr rtr_attr(const struct address *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = peer->mtu && peer->mtu < mine.self.mtu ? peer->mtu : mine.self.mtu,
		.dest_qp_num = peer->qp_num,
		.rq_psn = PSN,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,	/* 0.64 ms */
		.ah_attr = { .dlid = peer->lid, .port_num = mine.port },
	};

	if (!peer->lid) {	/* Ethernet */
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = peer->gid;
		attr.ah_attr.grh.hop_limit = 1;
	}
	return attr;
}

/*
 * A message to a QP that is gone fails after 4.096 us << 14, four times: about a third of a second.
 */
static struct ibv_qp_attr rts_attr(void)
{
	return (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 3,
		.rnr_retry = 7,
		.sq_psn = PSN,
		.max_rd_atomic = 1,
	};
}

static void create_rcv_qp(struct answer *answer)
{
	struct ibv_qp_init_attr attr = { .xrc_domain = mine.domain };

	perform_failed(answer, "ibv_create_xrc_rcv_qp",
		       ibv_create_xrc_rcv_qp(&attr, &answer->qp_num));
}

static void modify_rcv_qp(const struct request *request, struct answer *answer)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(&request->peer);

	if (perform_failed(answer, "ibv_modify_xrc_rcv_qp to INIT",
			   ibv_modify_xrc_rcv_qp(mine.domain, request->qp_num, &init, INIT_MASK)))
		return;
	perform_failed(answer, "ibv_modify_xrc_rcv_qp to RTR",
		       ibv_modify_xrc_rcv_qp(mine.domain, request->qp_num, &rtr, RTR_MASK));
}

static void query_rcv_qp(const struct request *request, struct answer *answer)
{
	struct ibv_qp_init_attr init = { 0 };
	struct ibv_qp_attr attr = { 0 };

	perform_failed(answer, "ibv_query_xrc_rcv_qp",
		       ibv_query_xrc_rcv_qp(mine.domain, request->qp_num, &attr, IBV_QP_STATE,
					    &init));
	answer->state = attr.qp_state;
	answer->qp_type = init.qp_type;
}

static void create_xrc_qp(struct answer *answer)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = mine.cq,
		.recv_cq = mine.cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.qp_type = IBV_QPT_XRC,
		.xrc_domain = mine.domain,
	};

	errno = 0;
	mine.qp = ibv_create_qp(mine.pd, &attr);
	perform_failed(answer, "ibv_create_qp", mine.qp ? 0 : errno ? errno : EPROTO);
	if (mine.qp)
		answer->qp_num = mine.qp->qp_num;
}

static void connect_qp(const struct request *request, struct answer *answer)
{
	struct ibv_qp_attr init = init_attr(), rtr = rtr_attr(&request->peer), rts = rts_attr();

	if (perform_failed(answer, "ibv_modify_qp to INIT",
			   ibv_modify_qp(mine.qp, &init, INIT_MASK)) ||
	    perform_failed(answer, "ibv_modify_qp to RTR", ibv_modify_qp(mine.qp, &rtr, RTR_MASK)))
		return;
	perform_failed(answer, "ibv_modify_qp to RTS", ibv_modify_qp(mine.qp, &rts, RTS_MASK));
}

void perform_qp(const struct request *request, struct answer *answer)
{
	switch (request->op) {
	case OP_CREATE_RCV_QP:
		create_rcv_qp(answer);
		break;
	case OP_MODIFY_RCV_QP:
		modify_rcv_qp(request, answer);
		break;
	case OP_QUERY_RCV_QP:
		query_rcv_qp(request, answer);
		break;
	case OP_REG:
		perform_failed(answer, "ibv_reg_xrc_rcv_qp",
			       ibv_reg_xrc_rcv_qp(mine.domain, request->qp_num));
		break;
	case OP_UNREG:
		perform_failed(answer, "ibv_unreg_xrc_rcv_qp",
			       ibv_unreg_xrc_rcv_qp(mine.domain, request->qp_num));
		break;
	case OP_CREATE_XRC_QP:
		create_xrc_qp(answer);
		break;
	case OP_CONNECT:
		connect_qp(request, answer);
		break;
	case OP_DESTROY_XRC_QP:
		perform_failed(answer, "ibv_destroy_qp", ibv_destroy_qp(mine.qp));
		break;
	default:
		perform_failed(answer, "unknown request", EPROTO);
	}
}
