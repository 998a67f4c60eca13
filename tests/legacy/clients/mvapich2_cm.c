/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * MVAPICH2: connections. One sending QP for each remote host; the first rank contacted there
 * creates the receive QP, the others register with it. The connection thread handles each message.
 */

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../../rc_masks.h"
#include "mvapich2.h"

enum cm_type {
	CM_MSG_TYPE_REQ = 1,
	CM_MSG_TYPE_REP,
	CM_MSG_TYPE_XRC_REQ,
	CM_MSG_TYPE_XRC_REP
};

struct cm_msg {
	uint32_t type, lid, qpn, srqn;
};

/* A remote host of which one rank has got a connection request. */
struct xrc_host {
	struct ibv_qp *sqp;
	uint32_t rqpn;		/* the receive QP that this host created for sqp */
};

static struct vc vcs[JOB_RANKS_MAX];
static struct xrc_host hosts[JOB_HOSTS];
static pthread_t cm_thread;

struct vc *cm_vc(int rank)
{
	return &vcs[rank];
}

static struct xrc_host *host_of(int rank)
{
	return &hosts[rank / job.local_size];
}

struct ibv_qp *cm_qp(int rank)
{
	return host_of(rank)->sqp;
}

static int state_of(const struct vc *vc)
{
	return (int)__atomic_load_n(&vc->state, __ATOMIC_ACQUIRE);
}

static void cm_send(int to, enum cm_type type, uint32_t qpn)
{
	struct cm_msg msg = { type, hca.lid, qpn, hca.srqn };

	job_send(JOB_CM, to, &msg, sizeof(msg));
}

/* ---- States. Receive QPs stop at RTR ---- */

static void modify(struct ibv_qp *qp, uint32_t rqpn, struct ibv_qp_attr *attr, int mask,
		   const char *what)
{
	if (qp)
		must_be_0(VERB(modify_qp)(qp, attr, mask), what);
	else
		must_be_0(VERB(modify_xrc_rcv_qp)(hca.xrc_domain, rqpn, attr, mask), what);
}

static void to_init(struct ibv_qp *qp, uint32_t rqpn)
{
	struct ibv_qp_attr attr = hca_init_attr(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE |
						IBV_ACCESS_REMOTE_READ);

	modify(qp, rqpn, &attr, MASK_INIT, "step to INIT");
}

static void to_rtr(struct ibv_qp *qp, uint32_t rqpn, const struct cm_msg *peer)
{
	struct ibv_qp_attr attr = hca_rtr_attr(peer->qpn, peer->lid, 0);

	attr.ah_attr.port_num = 0;	/* MVAPICH2 1.7 sets it nowhere. */
	modify(qp, rqpn, &attr, MASK_RTR, "step to RTR");
}

static void to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = hca_rts_attr(20, 0);

	modify(qp, 0, &attr, MASK_RTS, "step to RTS");
}

/* ---- The sender's side ---- */

static struct ibv_qp *create_sqp(void)
{
	struct ibv_qp_init_attr attr;
	struct ibv_qp *qp;

	memset(&attr, 0, sizeof(attr));
	attr.cap.max_send_wr = SENDS;
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_wr = 0;
	attr.cap.max_recv_sge = 1;
	attr.cap.max_inline_data = 128;
	attr.send_cq = hca.cq_hndl;
	attr.recv_cq = hca.cq_hndl;
	attr.srq = NULL;
	attr.xrc_domain = hca.xrc_domain;
	attr.qp_type = IBV_QPT_XRC;
	qp = must(VERB(create_qp)(hca.pd, &attr), "ibv_create_qp");
	if (attr.cap.max_inline_data < 128)
		job_die("ibv_create_qp returned max_inline_data %u, not 128 or more", attr.cap.max_inline_data);
	return qp;
}

/* Called by the main thread; the connection thread handles the answer. */
static void request(int rank)
{
	struct xrc_host *host = host_of(rank);

	__atomic_store_n(&vcs[rank].state, VC_REQUESTED, __ATOMIC_RELEASE);
	if (host->sqp) {
		cm_send(rank, CM_MSG_TYPE_XRC_REQ, host->rqpn);
		return;
	}
	host->sqp = create_sqp();
	to_init(host->sqp, 0);
	cm_send(rank, CM_MSG_TYPE_REQ, host->sqp->qp_num);
}

void cm_connect(int rank)
{
	if (state_of(&vcs[rank]) == VC_NEW)
		request(rank);
	while (state_of(&vcs[rank]) != VC_CONNECTED)
		job_idle();
}

static void cm_handle_reply(int from, const struct cm_msg *msg)
{
	struct xrc_host *host = host_of(from);

	if (msg->type == CM_MSG_TYPE_REP) {
		host->rqpn = msg->qpn;
		to_rtr(host->sqp, 0, msg);
		to_rts(host->sqp);
	}
	vcs[from].remote_srqn = msg->srqn;
	__atomic_store_n(&vcs[from].state, VC_CONNECTED, __ATOMIC_RELEASE);
}

/* ---- The receiver's side ---- */

static void cm_rcv_qp_create(int from, const struct cm_msg *msg)
{
	struct ibv_qp_init_attr attr;
	uint32_t rqpn;

	memset(&attr, 0, sizeof(attr));
	attr.xrc_domain = hca.xrc_domain;
	if (VERB(create_xrc_rcv_qp)(&attr, &rqpn))
		job_die("Failed to create XRC rcv QP. Error: %d (%s)", errno, strerror(errno));
	to_init(NULL, rqpn);
	to_rtr(NULL, rqpn, msg);
	vcs[from].xrc_my_rqpn = rqpn;
	cm_send(from, CM_MSG_TYPE_REP, rqpn);
}

static void cm_rcv_qp_register(int from, const struct cm_msg *msg)
{
	if (!vcs[from].xrc_my_rqpn && VERB(reg_xrc_rcv_qp)(hca.xrc_domain, msg->qpn))
		job_die("ibv_reg_xrc_rcv_qp: %s", strerror(errno));
	vcs[from].xrc_my_rqpn = msg->qpn;
	cm_send(from, CM_MSG_TYPE_XRC_REP, msg->qpn);
}

static void *cm_main(void *arg)
{
	struct cm_msg msg;
	int from;

	for (;;) {
		from = job_receive(JOB_CM, -1, &msg, sizeof(msg), -1);
		if (from < 0)
			continue;
		if (msg.type == CM_MSG_TYPE_REQ)
			cm_rcv_qp_create(from, &msg);
		else if (msg.type == CM_MSG_TYPE_XRC_REQ)
			cm_rcv_qp_register(from, &msg);
		else
			cm_handle_reply(from, &msg);
	}
	return arg;
}

void cm_start(void)
{
	must_be_0(pthread_create(&cm_thread, NULL, cm_main, NULL), "pthread_create");
}

void cm_stop(void)
{
	job_cancel_thread(cm_thread);
}

/*
 * MVAPICH2 unregisters from QPs that it created and from those it registered with alike. It treats
 * any error as fatal.
 */
void cm_finalize(void)
{
	int i;

	for (i = 0; i < job.size; i++)
		if (vcs[i].xrc_my_rqpn)
			must_be_0(VERB(unreg_xrc_rcv_qp)(hca.xrc_domain, vcs[i].xrc_my_rqpn),
				  "ibv_unreg_xrc_rcv_qp");
	for (i = 0; i < JOB_HOSTS; i++)
		if (hosts[i].sqp)
			must_be_0(VERB(destroy_qp)(hosts[i].sqp), "ibv_destroy_qp");
}
