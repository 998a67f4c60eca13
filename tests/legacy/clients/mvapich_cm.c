/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* MVAPICH 1.x: one XRC QP for each peer host, made on both sides, connected by messages. */

#include <errno.h>
#include <string.h>

#include "../../rc_masks.h"
#include "mvapich.h"

enum cm_type {
	CM_REQ = 1,
	CM_REP,
	CM_CONFIRM
};

struct cm_msg {
	uint32_t type, rank, lid, qpn;
};

static struct path paths[JOB_RANKS_MAX];

/* In a shared domain one QP reaches all ranks of a host. Any of them may have the other end. */
struct path *cm_path(uint32_t rank)
{
	return viadev.private_domain ? &paths[rank] : &paths[rank / (uint32_t)job.local_size];
}

/* ch_hybrid asks right after the creation, with a mask of 0, and takes what init_attr says. */
static void ask_inline_size(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	must_be_0(ibv_query_qp(qp, &attr, 0, &init_attr), "ibv_query_qp");
	if (init_attr.cap.max_inline_data > 1 << 16 || init_attr.cap.max_send_wr < SENDS)
		job_die("ibv_query_qp with mask 0 gives max_inline_data %u, max_send_wr %u",
			init_attr.cap.max_inline_data, init_attr.cap.max_send_wr);
}

/*
 * MVAPICH uses the same attributes as for RC, with receive capacities that mean nothing for an XRC
 * QP.
 */
static void create_qp(struct path *path)
{
	struct ibv_qp_init_attr attr;
	struct ibv_qp_attr qp_attr;

	memset(&attr, 0, sizeof(attr));
	attr.send_cq = viadev.cq_hndl;
	attr.recv_cq = viadev.cq_hndl;
	attr.cap.max_send_wr = SENDS;
	attr.cap.max_recv_wr = viadev.hybrid ? 0 : 200;
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_sge = 1;
	attr.cap.max_inline_data = 128;
	attr.srq = NULL;
	attr.qp_type = IBV_QPT_XRC;
	attr.xrc_domain = viadev.xrc_domain;
	path->qp_hndl = must(ibv_create_qp(viadev.pd, &attr), "ibv_create_qp");
	if (viadev.hybrid)
		ask_inline_size(path->qp_hndl);
	qp_attr = hca_init_attr(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_LOCAL_WRITE);
	must_be_0(ibv_modify_qp(path->qp_hndl, &qp_attr, MASK_INIT), "ibv_modify_qp to INIT");
}

static void to_rtr(struct path *path, uint32_t qpn, uint32_t lid)
{
	struct ibv_qp_attr attr = hca_rtr_attr(qpn, lid, 0);

	must_be_0(ibv_modify_qp(path->qp_hndl, &attr, MASK_RTR), "ibv_modify_qp to RTR");
	path->phase = PATH_RTR;
}

static void to_rts(struct path *path)
{
	struct ibv_qp_attr attr = hca_rts_attr(10, 0);

	must_be_0(ibv_modify_qp(path->qp_hndl, &attr, MASK_RTS), "ibv_modify_qp to RTS");
	path->phase = PATH_READY;
}

static void cm_send(enum cm_type type, const struct path *path)
{
	struct cm_msg msg = { type, (uint32_t)job.rank, viadev.lid, path->qp_hndl->qp_num };

	job_send(JOB_CM, (int)path->partner, &msg, sizeof(msg));
}

void cm_request(uint32_t rank)
{
	struct path *path = cm_path(rank);

	if (path->phase != PATH_NONE)
		return;
	path->partner = rank;
	create_qp(path);
	path->phase = PATH_REQUESTED;
	cm_send(CM_REQ, path);
}

static void cm_accept(const struct cm_msg *msg)
{
	struct path *path = cm_path(msg->rank);

	/*
	 * Both hosts asked at once. The lower rank's request counts, and the QP that was created
	 * for the other request serves it.
	 */
	if (path->phase == PATH_REQUESTED && (uint32_t)job.rank < msg->rank)
		return;
	if (path->phase == PATH_NONE)
		create_qp(path);
	path->partner = msg->rank;
	to_rtr(path, msg->qpn, msg->lid);
	cm_send(CM_REP, path);
}

void cm_poll(void)
{
	struct cm_msg msg;
	struct path *path;

	if (job_receive(JOB_CM, -1, &msg, sizeof(msg), 0) < 0)
		return;
	path = cm_path(msg.rank);
	switch (msg.type) {
	case CM_REQ:
		cm_accept(&msg);
		break;
	case CM_REP:
		to_rtr(path, msg.qpn, msg.lid);
		to_rts(path);
		cm_send(CM_CONFIRM, path);
		break;
	case CM_CONFIRM:
		to_rts(path);
		break;
	default:
		job_die("connection message %u", msg.type);
	}
}

int cm_all_ready(void)
{
	int i;

	for (i = 0; i < job.size; i++)
		if (paths[i].phase != PATH_NONE && paths[i].phase != PATH_READY)
			return 0;
	return 1;
}

int cm_has_qp(const struct ibv_qp *qp)
{
	int i;

	for (i = 0; i < job.size && paths[i].qp_hndl != qp; i++)
		;
	return i < job.size;
}

void cm_destroy_qps(void)
{
	int i;

	for (i = 0; i < job.size; i++)
		if (paths[i].qp_hndl)
			must_be_0(ibv_destroy_qp(paths[i].qp_hndl), "ibv_destroy_qp");
}
