/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * GASNet: QPs. A supernode's processes share a table of receive QPs, and all of them modify each of
 * these at once.
 */

#include <errno.h>
#include <string.h>

#include "../../rc_masks.h"
#include "gasnet.h"

/* In the table: a process is creating the QP. Therefore no QP may have the number 0 or 1. */
#define ELECTED 1

static uint32_t inline_limit;

void *garbage(void *variable, size_t size)
{
	return memset(variable, GARBAGE, size);
}

struct ibv_qp *create_qp(enum ibv_qp_type type, uint32_t inline_data)
{
	struct ibv_qp_init_attr attr;
	struct ibv_qp *qp;

	garbage(&attr, sizeof(attr));
	attr.cap.max_inline_data = inline_data;
	attr.cap.max_send_sge = 2;
	attr.cap.max_recv_sge = 1;
	attr.cap.max_send_wr = SENDS;
	attr.cap.max_recv_wr = 0;
	attr.qp_context = NULL;
	attr.qp_type = type;
	attr.sq_sig_all = 1;
	attr.srq = NULL;
	attr.send_cq = snd_cq;
	attr.recv_cq = rcv_cq;
	if (type == IBV_QPT_XRC)	/* RC QPs of the same program keep the garbage */
		attr.xrc_domain = xrc_domain;
	qp = ibv_create_qp(pd, &attr);
	if (qp && (attr.cap.max_send_wr < SENDS || attr.cap.max_send_wr > 1 << 16 ||
		   attr.cap.max_recv_wr > 1 << 16))
		job_die("capacities of %u and %u came back", attr.cap.max_send_wr,
			attr.cap.max_recv_wr);
	if (qp && inline_data <= 1 << 16 && attr.cap.max_inline_data < inline_data)
		job_die("max_inline_data %u came back, %u was asked for", attr.cap.max_inline_data,
			inline_data);
	return qp;
}

/*
 * Asks for the largest number first, then for less and less. Only EINVAL may mean that a size is
 * too large.
 */
void probe_inline_limit(void)
{
	struct ibv_qp *qp;

	inline_limit = UINT32_MAX;
	while (!(qp = create_qp(IBV_QPT_XRC, inline_limit))) {
		if (errno != EINVAL)
			job_die("max_inline_data %d: %s instead of EINVAL", (int)inline_limit,
				strerror(errno));
		if (!inline_limit)
			job_die("ibv_create_qp refuses every inline size");
		inline_limit = inline_limit == UINT32_MAX ? 1024 : inline_limit - 1;
	}
	must_be_0(ibv_destroy_qp(qp), "ibv_destroy_qp");
}

/* The first process creates the QP; the others register as soon as its number is in the table. */
static void get_rcv_qp(uint32_t *table)
{
	struct ibv_qp_init_attr attr;
	uint32_t qpn;

	if (__sync_bool_compare_and_swap(table, 0, ELECTED)) {
		garbage(&attr, sizeof(attr));
		attr.xrc_domain = xrc_domain;
		must_be_0(ibv_create_xrc_rcv_qp(&attr, &qpn), "ibv_create_xrc_rcv_qp");
		if (qpn <= ELECTED || qpn > 0xffffff)
			job_die("receive QP number 0x%x", qpn);
		__atomic_store_n(table, qpn, __ATOMIC_RELEASE);
		return;
	}
	while ((qpn = __atomic_load_n(table, __ATOMIC_ACQUIRE)) == ELECTED)
		job_idle();
	must_be_0(ibv_reg_xrc_rcv_qp(xrc_domain, qpn), "ibv_reg_xrc_rcv_qp");
}

/* EINVAL may mean that another process has modified the QP: it is then in that state or a later. */
static void modify_rcv_qp(uint32_t qpn, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr now;
	int wanted = (int)attr->qp_state,
	    result = ibv_modify_xrc_rcv_qp(xrc_domain, qpn, attr, mask);

	if (result == EINVAL) {
		must_be_0(ibv_query_xrc_rcv_qp(xrc_domain, qpn, &now, IBV_QP_STATE, &init_attr),
			  "ibv_query_xrc_rcv_qp");
		if ((int)now.qp_state < wanted)
			job_die("receive QP 0x%x is in state %d, wanted was %d", qpn, now.qp_state,
				wanted);
		return;
	}
	must_be_0(result, "ibv_modify_xrc_rcv_qp");
}

static void to_init(struct ibv_qp *qp, uint32_t qpn)
{
	struct ibv_qp_attr attr;

	garbage(&attr, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = 0;
	attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ;
	attr.port_num = 1;
	if (qp)
		must_be_0(ibv_modify_qp(qp, &attr, MASK_INIT), "ibv_modify_qp to INIT");
	else
		modify_rcv_qp(qpn, &attr, MASK_INIT);
}

static void to_rtr(struct ibv_qp *qp, uint32_t qpn, uint32_t dest_qpn, uint32_t lid)
{
	struct ibv_qp_attr attr;

	garbage(&attr, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.max_dest_rd_atomic = 4;
	attr.path_mtu = IBV_MTU_1024;
	attr.rq_psn = (uint32_t)job.size;
	attr.min_rnr_timer = 12;
	attr.dest_qp_num = dest_qpn;
	memset(&attr.ah_attr, 0, sizeof(attr.ah_attr));
	attr.ah_attr.dlid = (uint16_t)lid;
	attr.ah_attr.port_num = 1;
	if (qp)
		must_be_0(ibv_modify_qp(qp, &attr, MASK_RTR), "ibv_modify_qp to RTR");
	else
		modify_rcv_qp(qpn, &attr, MASK_RTR);
}

static void to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr;

	garbage(&attr, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.sq_psn = (uint32_t)job.size;
	attr.timeout = 18;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 4;
	must_be_0(ibv_modify_qp(qp, &attr, MASK_RTS), "ibv_modify_qp to RTS");
}

/*
 * Creates all QPs and exchanges their numbers. Then all processes modify all QPs at the same time.
 */
void connect_all(void)
{
	struct bootstrap mine;
	int i, peer;

	snd_qp = must(create_qp(IBV_QPT_XRC, inline_limit == UINT32_MAX ? 64 : inline_limit),
		      "ibv_create_qp");
	for (i = 0; i < job.local_size; i++)
		get_rcv_qp(&supernode->rcv_qpn[job_first_peer() + i]);
	mine = boot[job.rank];
	mine.snd_qpn = snd_qp->qp_num;
	memcpy(mine.rcv_qpn, supernode->rcv_qpn, sizeof(mine.rcv_qpn));
	job_gather(JOB_WORLD, &mine, sizeof(mine), boot);
	for (i = 0; i < job.local_size; i++)
		to_init(NULL, supernode->rcv_qpn[job_first_peer() + i]);
	to_init(snd_qp, 0);
	for (i = 0; i < job.local_size; i++) {
		peer = job_first_peer() + i;
		to_rtr(NULL, supernode->rcv_qpn[peer], boot[peer].snd_qpn, boot[peer].lid);
	}
	to_rtr(snd_qp, 0, boot[job_first_peer()].rcv_qpn[job.rank], boot[job_first_peer()].lid);
	to_rts(snd_qp);
	job_barrier(JOB_WORLD);
}

/* The default build has no such function, so it does not refer to ibv_unreg_xrc_rcv_qp. */
#ifdef GASNETC_IBV_SHUTDOWN
void destroy_qps(void)
{
	int i;

	must_be_0(ibv_destroy_qp(snd_qp), "ibv_destroy_qp");
	for (i = 0; i < job.size; i++)
		if (supernode->rcv_qpn[i] > ELECTED)
			must_be_0(ibv_unreg_xrc_rcv_qp(xrc_domain, supernode->rcv_qpn[i]),
				  "ibv_unreg_xrc_rcv_qp");
}
#endif
