/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Open MPI: the xoob CPC. One sending QP for each remote port; the first process contacted there
 * creates the receive QP, the others register with it. If that QP is destroyed by then, the sender
 * connects anew.
 */

#include <errno.h>
#include <string.h>

#include "../../rc_masks.h"
#include "openmpi.h"

enum xoob_type {
	CONNECT_REQUEST = 1,
	CONNECT_RESPONSE,
	CONNECT_XRC_REQUEST,
	CONNECT_XRC_RESPONSE,
	CONNECT_XRC_NR_RESPONSE
};

struct xoob_msg {
	uint32_t type, lid, qpn, psn, srqs[QUEUES];
};

unsigned xoob_gone;

static struct ib_addr ib_addrs[JOB_HOSTS];

struct ib_addr *xoob_addr(int rank)
{
	return &ib_addrs[rank / job.local_size];
}

/* Open MPI packs the numbers from where they are in the SRQs. */
static void pack(uint32_t *to, const uint32_t *from)
{
	memcpy(to, from, sizeof(*to));
}

static void xoob_send(int rank, enum xoob_type type, uint32_t qpn, uint32_t psn)
{
	struct xoob_msg msg = { .type = type, .lid = device.lid, .qpn = qpn, .psn = psn };
	int i;

	for (i = 0; i < QUEUES; i++)
		pack(&msg.srqs[i], &device.queues[i].srq->xrc_srq_num);
	job_send(JOB_CM, rank, &msg, sizeof(msg));
}

/* ---- The sending side ---- */

static void send_qp_create(struct ib_addr *addr)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&init, 0, sizeof(init));
	init.send_cq = init.recv_cq = device.cq[1];
	init.cap.max_inline_data = device.max_inline_data;
	init.cap.max_recv_wr = 0;
	init.cap.max_recv_sge = 1;
	init.cap.max_send_wr = SD_MAX;
	init.cap.max_send_sge = 1;
	init.qp_type = IBV_QPT_XRC;
	init.xrc_domain = device.xrc_domain;
	addr->qp = must(ibv_create_qp(device.pd, &init), "ibv_create_qp");
	if (init.cap.max_inline_data < device.max_inline_data)
		job_die("inline truncated to %u", init.cap.max_inline_data);
	attr = hca_init_attr(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	must_be_0(ibv_modify_qp(addr->qp, &attr, MASK_INIT), "ibv_modify_qp to INIT");
	addr->psn = addr->qp->qp_num * 5 & 0xffffff;
}

static void send_qp_connect(struct ib_addr *addr, const struct xoob_msg *peer)
{
	struct ibv_qp_attr attr = hca_rtr_attr(peer->qpn, peer->lid, peer->psn);

	must_be_0(ibv_modify_qp(addr->qp, &attr, MASK_RTR), "ibv_modify_qp to RTR");
	attr = hca_rts_attr(20, addr->psn);
	must_be_0(ibv_modify_qp(addr->qp, &attr, MASK_RTS), "ibv_modify_qp to RTS");
}

void xoob_start_connect(int rank)
{
	struct ib_addr *addr = xoob_addr(rank);

	endpoints[rank].state = ENDPOINT_WAITING;
	switch (addr->status) {
	case IB_ADDR_CLOSED:
		send_qp_create(addr);
		addr->status = IB_ADDR_CONNECTING;
		xoob_send(rank, CONNECT_REQUEST, addr->qp->qp_num, addr->psn);
		break;
	/* Another endpoint of that host has asked. Its answer serves this endpoint, too. */
	case IB_ADDR_CONNECTING:
		break;
	case IB_ADDR_CONNECTED:
		xoob_send(rank, CONNECT_XRC_REQUEST, addr->remote_xrc_rcv_qp_num, 0);
		break;
	}
}

static void endpoint_connected(int rank, const struct xoob_msg *msg)
{
	memcpy(endpoints[rank].rem_srqs, msg->srqs, sizeof(msg->srqs));
	endpoints[rank].state = ENDPOINT_CONNECTED;
}

static void on_response(int rank, const struct xoob_msg *msg)
{
	struct ib_addr *addr = xoob_addr(rank);
	int other;

	send_qp_connect(addr, msg);
	addr->status = IB_ADDR_CONNECTED;
	addr->remote_xrc_rcv_qp_num = msg->qpn;
	endpoint_connected(rank, msg);
	for (other = 0; other < job.size; other++)
		if (xoob_addr(other) == addr && endpoints[other].state == ENDPOINT_WAITING)
			xoob_send(other, CONNECT_XRC_REQUEST, addr->remote_xrc_rcv_qp_num, 0);
}

/* "No receive QP": the receive QP at the other end does not exist any more. */
static void on_nr_response(int rank)
{
	struct ib_addr *addr = xoob_addr(rank);

	xoob_gone++;
	must_be_0(ibv_destroy_qp(addr->qp), "ibv_destroy_qp");
	addr->qp = NULL;
	addr->status = IB_ADDR_CLOSED;
	xoob_start_connect(rank);
}

/* ---- The receiving side ---- */

/*
 * Automatic path migration: takes the path from a query with mask 0. Another process may have set
 * it already, so no result is checked.
 */
static void load_apm(uint32_t qpn, const struct xoob_msg *peer)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	memset(&init, 0, sizeof(init));
	must_be_0(ibv_query_xrc_rcv_qp(device.xrc_domain, qpn, &attr, 0, &init),
		  "ibv_query_xrc_rcv_qp");
	if (attr.ah_attr.dlid != peer->lid || attr.port_num != 1 || attr.pkey_index)
		job_die("ibv_query_xrc_rcv_qp with mask 0 gives LID %u, port %u, pkey index %u",
			attr.ah_attr.dlid, attr.port_num, attr.pkey_index);
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_ah_attr.src_path_bits++;
	attr.alt_port_num = attr.port_num;
	attr.alt_pkey_index = attr.pkey_index;
	attr.alt_timeout = attr.timeout;
	attr.path_mig_state = IBV_MIG_REARM;
	ibv_modify_xrc_rcv_qp(device.xrc_domain, qpn, &attr,
			      IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
}

/* To RTR; Open MPI never takes it to RTS. */
static void recv_qp_create(int rank, const struct xoob_msg *msg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	uint32_t qpn;

	memset(&init, 0, sizeof(init));
	init.xrc_domain = device.xrc_domain;
	must_be_0(ibv_create_xrc_rcv_qp(&init, &qpn), "ibv_create_xrc_rcv_qp");
	endpoints[rank].xrc_recv_qp_num = qpn;
	attr = hca_init_attr(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	/* Open MPI repeats a step that fails, without an end. */
	must_be_0(ibv_modify_xrc_rcv_qp(device.xrc_domain, qpn, &attr, MASK_INIT),
		  "ibv_modify_xrc_rcv_qp to INIT");
	attr = hca_rtr_attr(msg->qpn, msg->lid, msg->psn);
	must_be_0(ibv_modify_xrc_rcv_qp(device.xrc_domain, qpn, &attr, MASK_RTR),
		  "ibv_modify_xrc_rcv_qp to RTR");
	load_apm(qpn, msg);
	xoob_send(rank, CONNECT_RESPONSE, qpn, msg->psn);
}

static void recv_qp_connect(int rank, const struct xoob_msg *msg)
{
	int ret = ibv_reg_xrc_rcv_qp(device.xrc_domain, msg->qpn);

	if (ret) {
		if (ret != EINVAL)
			job_die("ibv_reg_xrc_rcv_qp of a destroyed receive QP: %d", ret);
		xoob_send(rank, CONNECT_XRC_NR_RESPONSE, 0, 0);
		return;
	}
	endpoints[rank].xrc_recv_qp_num = msg->qpn;
	xoob_send(rank, CONNECT_XRC_RESPONSE, msg->qpn, 0);
}

void xoob_progress(void)
{
	struct xoob_msg msg;
	int from = job_receive(JOB_CM, -1, &msg, sizeof(msg), 0);

	if (from < 0)
		return;
	switch (msg.type) {
	case CONNECT_REQUEST:
		recv_qp_create(from, &msg);
		break;
	case CONNECT_RESPONSE:
		on_response(from, &msg);
		break;
	case CONNECT_XRC_REQUEST:
		recv_qp_connect(from, &msg);
		break;
	case CONNECT_XRC_RESPONSE:
		endpoint_connected(from, &msg);
		break;
	case CONNECT_XRC_NR_RESPONSE:
		on_nr_response(from);
		break;
	default:
		job_die("connection message %u", msg.type);
	}
}

/*
 * Once for each endpoint, whether it created the QP or registered with it. Open MPI only logs a
 * failure.
 */
void xoob_drop_recv_qp(int rank)
{
	if (!endpoints[rank].xrc_recv_qp_num)
		return;
	must_be_0(ibv_unreg_xrc_rcv_qp(device.xrc_domain, endpoints[rank].xrc_recv_qp_num),
		  "ibv_unreg_xrc_rcv_qp");
	endpoints[rank].xrc_recv_qp_num = 0;
}

/* Ends each endpoint. The last endpoint of a host destroys the sending QP. */
void xoob_finalize(void)
{
	int rank;

	for (rank = 0; rank < job.size; rank++) {
		struct ib_addr *addr = xoob_addr(rank);

		if (addr->qp && rank % job.local_size == job.local_size - 1)
			must_be_0(ibv_destroy_qp(addr->qp), "ibv_destroy_qp");
		xoob_drop_recv_qp(rank);
	}
}
