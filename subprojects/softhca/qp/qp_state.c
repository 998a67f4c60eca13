/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Queue pairs change: attributes, states and what follows from them. */
#include "qp.h"

#include <base/refuse.h>
#include <machine/port.h>

#include <errno.h>
#include <string.h>

static bool valid_port(const struct hca_qp *qp, uint8_t port)
{
	return port >= 1 && port <= qp->device->machine->settings.ports;
}

/* On Ethernet the kernel resolves the peer's GID, unless it is link-local with RoCE v1. */
static int check_gids(const struct hca_qp *qp, const struct ib_uverbs_qp_dest *dest)
{
	struct hca_machine *machine = qp->device->machine;
	uint8_t own[16];
	enum gid_type type;

	if (!dest->is_global)
		return machine->settings.ethernet ? refuse(-EINVAL, "address vector without a GRH")
						  : 0;
	if (dest->sgid_index >= PORT_GIDS)
		return refuse(-EINVAL, "GID index");
	type = port_gid(qp->device, dest->port_num, dest->sgid_index, own);
	if (type == GID_NONE)
		return refuse(-ENODATA, "GID index of an empty entry");
	if (type == GID_IB || (type == GID_ROCE_V1 && dest->dgid[0] == 0xfe) ||
	    port_behind(machine, dest->dgid))
		return 0;
	return refuse(-ETIMEDOUT, "GID of no port");
}

/* The port is named twice: in INIT and on the way to RTR, or both times in SQD. */
static bool ports_agree(const struct hca_qp *qp, const struct ib_uverbs_modify_qp *request,
			uint32_t mask)
{
	if (mask & IBV_QP_STATE && request->qp_state == IBV_QPS_RTR)
		return request->dest.port_num == qp->attr.port;
	return !(mask & IBV_QP_PORT) || request->dest.port_num == request->port_num;
}

static bool valid_mtu(uint8_t mtu)
{
	return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096;
}

/* The checks of uverbs, ib_core and the driver beside the masks. */
static int check_values(const struct hca_qp *qp, const struct ib_uverbs_modify_qp *request,
			uint32_t mask)
{
	const struct limits *limits = &qp->device->machine->settings.limits;
	const uint16_t pkeys = port_pkeys(qp->device->machine);
	int err = 0;

	if (mask & IBV_QP_PORT && !valid_port(qp, request->port_num))
		return refuse(-EINVAL, "port number");
	if (mask & IBV_QP_PKEY_INDEX && request->pkey_index >= pkeys)
		return refuse(-EINVAL, "P_Key index");
	if (mask & IBV_QP_AV &&
	    (!valid_port(qp, request->dest.port_num) || !ports_agree(qp, request, mask)))
		return refuse(-EINVAL, "port of the address vector");
	if (mask & IBV_QP_ALT_PATH &&
	    (!valid_port(qp, request->alt_dest.port_num) || request->alt_pkey_index >= pkeys ||
	     request->alt_dest.port_num != request->alt_port_num))
		return refuse(-EINVAL, "alternate path");
	if (mask & IBV_QP_PATH_MTU && !valid_mtu(request->path_mtu))
		return refuse(-EINVAL, "path MTU");
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC && request->max_rd_atomic > limits->max_qp_init_rd_atom)
		return refuse(-EINVAL, "max_rd_atomic");
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
	    request->max_dest_rd_atomic > limits->max_qp_rd_atom)
		return refuse(-EINVAL, "max_dest_rd_atomic");
	if (mask & IBV_QP_AV)
		err = check_gids(qp, &request->dest);
	if (!err && mask & IBV_QP_ALT_PATH)
		err = check_gids(qp, &request->alt_dest);
	return err;
}

/*
 * The LID is where the wire leads to. Ethernet has no LID, so the GID gives the place. SL and
 * source path bits are cut to the adapter's fields.
 */
static struct ib_uverbs_qp_dest on_wire(struct hca_machine *machine, struct ib_uverbs_qp_dest dest)
{
	dest.sl &= 15;
	dest.src_path_bits &= 127;
	if (machine->settings.ethernet)
		dest.dlid = port_behind(machine, dest.dgid);
	return dest;
}

static void take_path(struct hca_qp *qp, const struct ib_uverbs_modify_qp *request, uint32_t mask)
{
	struct hca_machine *machine = qp->device->machine;
	struct hca_qp_attr *attr = &qp->attr;

	if (mask & IBV_QP_AV) {
		attr->dest = on_wire(machine, request->dest);
		attr->port = request->dest.port_num;
	}
	if (mask & IBV_QP_PATH_MTU)
		attr->path_mtu = request->path_mtu;
	if (mask & IBV_QP_DEST_QPN)
		attr->dest_qpn = request->dest_qp_num & PSN_MASK;
	if (mask & IBV_QP_PKEY_INDEX)
		attr->pkey_index = request->pkey_index;
	if (mask & IBV_QP_PORT)
		attr->port = request->port_num;
	if (mask & IBV_QP_ALT_PATH) {
		attr->alt_dest = on_wire(machine, request->alt_dest);
		attr->alt_pkey_index = request->alt_pkey_index;
		attr->alt_port = request->alt_port_num;
		attr->alt_timeout = request->alt_timeout & 31;
	}
	attr->dest.port_num = attr->port;
}

/* Setting MIGRATED on an armed QP moves it to the alternate path. */
static void take_migration(struct hca_qp *qp, const struct ib_uverbs_modify_qp *request)
{
	if (request->path_mig_state != IBV_MIG_MIGRATED ||
	    qp->attr.path_mig_state != IBV_MIG_ARMED || !path_migrate(qp))
		qp->attr.path_mig_state = request->path_mig_state;
}

static void take_transport(struct hca_qp_attr *attr, const struct ib_uverbs_modify_qp *request,
			   uint32_t mask)
{
	if (mask & IBV_QP_ACCESS_FLAGS)
		attr->access = request->qp_access_flags;
	if (mask & IBV_QP_QKEY)
		attr->qkey = request->qkey;
	if (mask & IBV_QP_RQ_PSN)
		attr->rq_psn = request->rq_psn & PSN_MASK;
	if (mask & IBV_QP_SQ_PSN)
		attr->sq_psn = request->sq_psn & PSN_MASK;
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		attr->max_rd_atomic = request->max_rd_atomic;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		attr->max_dest_rd_atomic = request->max_dest_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		attr->min_rnr_timer = request->min_rnr_timer & 31;
	if (mask & IBV_QP_TIMEOUT)
		attr->timeout = request->timeout & 31;
	if (mask & IBV_QP_RETRY_CNT)
		attr->retry_cnt = request->retry_cnt & 7;
	if (mask & IBV_QP_RNR_RETRY)
		attr->rnr_retry = request->rnr_retry & 7;
}

/* The program restarts its rings at RESET, so the HCA does, too. */
static void reset(struct hca_qp *qp)
{
	sq_stop(qp);
	memset(&qp->attr, 0, sizeof(qp->attr));
	qp->sq.next = qp->sq.known = qp->rq.next = qp->rq.known = 0;
	qp->recv = (struct qp_receiver){ 0 };
}

void qp_fail(struct hca_qp *qp)
{
	bool last_wqe = qp->srq && (qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS ||
				    qp->state == IBV_QPS_SQD);

	if (qp->state == IBV_QPS_ERR)
		return;
	sq_stop(qp);
	qp->state = IBV_QPS_ERR;
	list_add(&qp->device->machine->failed, &qp->failed);
	sq_flush(qp);
	recv_flush(qp);
	if (last_wqe)
		event_qp(qp, IBV_EVENT_QP_LAST_WQE_REACHED);
}

static void enter(struct hca_qp *qp, enum ibv_qp_state state)
{
	if (state == IBV_QPS_ERR) {
		qp_fail(qp);
		return;
	}
	if (state == IBV_QPS_RESET)
		reset(qp);
	qp->state = state;
	/* A peer may have sent before this end was in RTR. */
	if (state == IBV_QPS_RTR)
		sq_retry_unanswered(qp->device->machine);
	else if (state == IBV_QPS_SQD)
		sq_drain(qp);
	else if (state != IBV_QPS_RESET)
		sq_kick(qp);
}

/* The current and the new state. False when the program named a wrong current state. */
static bool find_transition(const struct hca_qp *qp, const struct ib_uverbs_modify_qp *request,
			    uint32_t mask, enum ibv_qp_state *next)
{
	if (mask & IBV_QP_CUR_STATE && request->cur_qp_state != qp->state)
		return false;
	*next = mask & IBV_QP_STATE ? (enum ibv_qp_state)request->qp_state : qp->state;
	return *next <= IBV_QPS_ERR;
}

int qp_modify(struct hca_qp *qp, const struct ib_uverbs_modify_qp *request)
{
	uint32_t mask = request->attr_mask;
	enum ibv_qp_state next;
	int err;

	if (!qp->device->machine->settings.strict)
		mask = qp_mask_strip(qp->type, mask);
	if (!find_transition(qp, request, mask, &next))
		return refuse(-EINVAL, "the current state, or the next");
	if (!qp_mask_ok(qp->state, next, qp->type, mask))
		return -EINVAL;
	if (next == IBV_QPS_SQD && qp->device->model->never_drains)
		return refuse(-EINVAL, "the driver has no such transition");
	err = check_values(qp, request, mask);
	if (err)
		return err;
	take_path(qp, request, mask);
	take_transport(&qp->attr, request, mask);
	if (mask & IBV_QP_PATH_MIG_STATE)
		take_migration(qp, request);
	/* An SQD that was left before its end tells nothing. */
	if (next != qp->state)
		qp->send.notify_drained =
			mask & IBV_QP_EN_SQD_ASYNC_NOTIFY && request->en_sqd_async_notify;
	if (mask & IBV_QP_STATE)
		enter(qp, next);
	return 0;
}

uint32_t qp_mtu(const struct hca_qp *qp)
{
	return valid_mtu(qp->attr.path_mtu) ? 128u << qp->attr.path_mtu : 4096u;
}

/* Both drivers store remote rights only, and without responder resources only that to write. */
static uint32_t stored_access(const struct hca_qp_attr *attr)
{
	uint32_t remote = IBV_ACCESS_REMOTE_WRITE;

	if (attr->max_dest_rd_atomic)
		remote |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
	return attr->access & remote;
}

static void query_attr(const struct hca_qp_attr *attr, struct ib_uverbs_query_qp_resp *resp)
{
	resp->dest = attr->dest;
	resp->alt_dest = attr->alt_dest;
	resp->qkey = attr->qkey;
	resp->rq_psn = attr->rq_psn;
	resp->sq_psn = attr->sq_psn;
	resp->dest_qp_num = attr->dest_qpn;
	resp->qp_access_flags = stored_access(attr);
	resp->pkey_index = attr->pkey_index;
	resp->alt_pkey_index = attr->alt_pkey_index;
	resp->path_mtu = attr->path_mtu;
	resp->path_mig_state = attr->path_mig_state;
	/* mlx4_ib and mlx5_ib store the logarithm, rounded up; it is 0 before it is set. */
	resp->max_rd_atomic = (uint8_t)model_pow2(attr->max_rd_atomic);
	resp->max_dest_rd_atomic = (uint8_t)model_pow2(attr->max_dest_rd_atomic);
	resp->min_rnr_timer = attr->min_rnr_timer;
	resp->port_num = attr->port;
	resp->timeout = attr->timeout;
	resp->retry_cnt = attr->retry_cnt;
	resp->rnr_retry = attr->rnr_retry;
	resp->alt_port_num = attr->alt_port;
	resp->alt_timeout = attr->alt_timeout;
}

int cmd_query_qp(struct cmd *cmd)
{
	const struct hca_qp *qp = ((const struct hca_qp_handle *)cmd->object)->qp;
	struct ib_uverbs_query_qp_resp resp = { 0 };

	query_attr(&qp->attr, &resp);
	if (qp->device->machine->settings.ethernet)
		resp.dest.dlid = resp.alt_dest.dlid = 0;
	resp.qp_state = resp.cur_qp_state = (uint8_t)qp->state;
	resp.sq_draining = qp->state == IBV_QPS_SQD && qp->send.started;
	if (qp->device->model->tells_send_caps) {
		resp.max_send_wr = qp->max_send_wr;
		resp.max_send_sge = qp->max_send_sge;
		resp.max_inline_data = qp->max_inline;
	}
	resp.max_recv_wr = qp->rq.count;
	resp.max_recv_sge = qp->max_recv_sge;
	resp.sq_sig_all = qp->sq_sig_all;
	return cmd_respond(cmd, &resp, sizeof(resp), NULL, 0);
}

int cmd_modify_qp(struct cmd *cmd)
{
	const struct ib_uverbs_modify_qp *in = cmd->in;

	/* Bits beyond the oldest set need the extended command. */
	if (in->attr_mask & ~(((uint32_t)IBV_QP_DEST_QPN << 1) - 1))
		return refuse(-EOPNOTSUPP, "attribute bits of EX_MODIFY_QP");
	return qp_modify(((struct hca_qp_handle *)cmd->object)->qp, in);
}
