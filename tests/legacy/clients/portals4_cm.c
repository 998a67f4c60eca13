/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Portals4: the XRC patch of librdmacm, with messages of the job in place of rdma_cm's. The patch
 * created a receive QP in place of a QP without a send queue, and took it through all states, also
 * to RTS.
 */

#include "../../rc_masks.h"
#include "hca.h"
#include "portals4.h"

#define PSN 0x1234

static void modify(struct connection *conn, struct ibv_qp_attr *attr, int mask, const char *what)
{
	if (conn->qp)
		must_be_0(ibv_modify_qp(conn->qp, attr, mask), what);
	else
		must_be_0(ibv_modify_xrc_rcv_qp(conn->xrc_domain, conn->xrc_rcv_qpn, attr, mask),
			  what);
}

static void to_init(struct connection *conn, int access)
{
	struct ibv_qp_attr attr;

	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = 0;
	attr.port_num = 1;
	attr.qp_access_flags = access;
	modify(conn, &attr, MASK_INIT, "step to INIT");
}

/* Goes to INIT once more first, as librdmacm does, which created the QP with defaults. */
static void to_rtr(struct connection *conn)
{
	struct ibv_qp_attr attr;

	to_init(conn, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	attr = hca_rtr_attr(conn->remote_qpn, conn->remote_lid, PSN);
	modify(conn, &attr, MASK_RTR, "step to RTR");
}

static void to_rts(struct connection *conn)
{
	struct ibv_qp_attr attr = hca_rts_attr(14, PSN);

	modify(conn, &attr, MASK_RTS, "step to RTS");
}

static uint32_t lid;

struct ibv_context *conn_open_hca(void)
{
	struct ibv_context *context = hca_open_device();

	lid = hca_lid(context);
	return context;
}

void conn_close_hca(struct ibv_context *context)
{
	must_be_0(ibv_close_device(context), "ibv_close_device");
}

void conn_resolve(struct connection *sending, int rank)
{
	sending->rank = rank;
}

/*
 * The patch passed attr on to ibv_create_xrc_rcv_qp as it was, with CQs, SRQ and capacities, which
 * mean nothing there.
 */
void conn_create_qp(struct connection *conn, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	conn->lid = lid;
	conn->xrc_domain = attr->xrc_domain;
	if (attr->qp_type == IBV_QPT_XRC && !attr->cap.max_send_wr)
		must_be_0(ibv_create_xrc_rcv_qp(attr, &conn->xrc_rcv_qpn), "ibv_create_xrc_rcv_qp");
	else
		conn->qp = must(ibv_create_qp(pd, attr), "ibv_create_qp");
	to_init(conn, 0);
}

enum cm_type {
	CM_CONNECT_REQUEST = 1,
	CM_CONNECT_RESPONSE
};

struct cm_msg {
	uint32_t type, lid, qpn;
};

static void cm_send(const struct connection *conn, enum cm_type type)
{
	struct cm_msg msg = { type, conn->lid, conn->qp ? conn->qp->qp_num : conn->xrc_rcv_qpn };

	job_send(JOB_CM, conn->rank, &msg, sizeof(msg));
}

void conn_request(struct connection *sending)
{
	cm_send(sending, CM_CONNECT_REQUEST);
}

static void establish(struct connection *conn)
{
	to_rtr(conn);
	to_rts(conn);
	conn->connected = 1;
}

static void note_remote(struct connection *conn, int rank, const struct cm_msg *msg)
{
	conn->rank = rank;
	conn->remote_lid = msg->lid;
	conn->remote_qpn = msg->qpn;
}

int conn_next(struct connection *sending, struct connection *accepted)
{
	struct cm_msg msg;
	int from;

	do {
		from = job_receive(JOB_CM, -1, &msg, sizeof(msg), -1);
	} while (from < 0);
	if (msg.type == CM_CONNECT_REQUEST) {
		note_remote(&accepted[from], from, &msg);
		return from;
	}
	note_remote(sending, from, &msg);
	establish(sending);
	return -1;
}

void conn_accept(struct connection *conn)
{
	establish(conn);
	cm_send(conn, CM_CONNECT_RESPONSE);
}

void conn_disconnect(struct connection *conn)
{
	struct ibv_qp_attr attr;

	/* The patch ignored the result, so it may fail, as it does on mlx5. */
	attr.qp_state = IBV_QPS_SQD;
	if (!conn->qp)
		ibv_modify_xrc_rcv_qp(conn->xrc_domain, conn->xrc_rcv_qpn, &attr, IBV_QP_STATE);
	attr.qp_state = IBV_QPS_ERR;
	modify(conn, &attr, IBV_QP_STATE, "step to ERR");
}

void conn_destroy_qp(struct connection *conn)
{
	if (conn->qp)
		must_be_0(ibv_destroy_qp(conn->qp), "ibv_destroy_qp");
	else
		must_be_0(ibv_unreg_xrc_rcv_qp(conn->xrc_domain, conn->xrc_rcv_qpn),
			  "ibv_unreg_xrc_rcv_qp");
}
