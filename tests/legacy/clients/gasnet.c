/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What GASNet's vapi-conduit does with XRC. It initialises no attributes. It closes and unlinks the
 * domain's file at once. The processes of a supernode share a table of receive QPs, and all of them
 * modify each of these at once.
 *
 * By default it ends by exit() and destroys nothing. --shutdown: as with GASNETC_IBV_SHUTDOWN, it
 * unregisters and destroys its QPs, SRQs and CQs. The domain and the completion channel stay open.
 */

#include <arpa/inet.h>
#include <stdio.h>

#include "client.h"

#define PROCESSES 3		/* of a supernode; they race for its receive QPs */
#define BUFFERS 96		/* enough for all messages: this protocol has no credits */

/* A table's entry while a process creates the QP. So no QP may have the number 0 or 1. */
#define ELECTED 1

enum queue {
	SRQ_REQUEST,
	SRQ_REPLY,
	SRQS
};

/* Shared by the processes of the supernode. */
static struct supernode {
	uint32_t rcv_qpn[JOB_RANKS_MAX];	/* of the receive QP for that rank's messages */
	pid_t leader;
} *supernode;

/* What every process tells every other one at start. */
static struct bootstrap {
	uint32_t lid, snd_qpn, srqn[SRQS];
	uint32_t rcv_qpn[JOB_RANKS_MAX];
} boot[JOB_RANKS_MAX];

static struct ibv_cq *rcv_cq;
static struct ibv_qp *snd_qp;
static uint32_t inline_limit;
static int shuts_down;

/* ---- Start ---- */

/*
 * The file is closed right after the open, and unlinked when all processes of the supernode have
 * opened the domain.
 */
static void xrc_init(void)
{
	char file[128];

	if (!job.local_rank)
		supernode->leader = getpid();
	job_host_barrier();
	snprintf(file, sizeof(file), "GASNETxrc-%x0-%d", hca.lid,
		 (int)supernode->leader);
	hca_open_domain(file, O_CREAT);
	close(hca.domain_fd);
	job_host_barrier();
	unlink(file);
}

/* Attributes of RC QPs have garbage in xrc_domain. */
static struct ibv_qp *create_qp(enum ibv_qp_type type, uint32_t inline_data)
{
	struct ibv_qp_init_attr attr = hca_qp_attr(inline_data);
	struct ibv_qp *qp;

	attr.cap.max_send_sge = 2;
	attr.sq_sig_all = 1;
	attr.recv_cq = rcv_cq;
	attr.qp_type = type;
	if (type == IBV_QPT_RC)
		memset(&attr.xrc_domain, hca.filler, sizeof(attr.xrc_domain));
	qp = ibv_create_qp(hca.pd, &attr);
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
static void probe_inline_limit(void)
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
	DO(destroy_qp, qp);
}

/* The first process creates the QP; the others register as soon as its number is in the table. */
static void get_rcv_qp(uint32_t *table)
{
	struct ibv_qp_init_attr attr;
	uint32_t qpn;

	if (__sync_bool_compare_and_swap(table, 0, ELECTED)) {
		memset(&attr, hca.filler, sizeof(attr));
		attr.xrc_domain = hca.xrc_domain;
		DO(create_xrc_rcv_qp, &attr, &qpn);
		if (qpn <= ELECTED || qpn > 0xffffff)
			job_die("receive QP number 0x%x", qpn);
		__atomic_store_n(table, qpn, __ATOMIC_RELEASE);
		return;
	}
	while ((qpn = __atomic_load_n(table, __ATOMIC_ACQUIRE)) == ELECTED)
		job_idle();
	DO(reg_xrc_rcv_qp, hca.xrc_domain, qpn);
}

/* EINVAL may mean that another process was first: the QP is then in that state or a later one. */
static void modify_rcv_qp(uint32_t qpn, struct ibv_qp_attr attr, int mask)
{
	int result = ibv_modify_xrc_rcv_qp(hca.xrc_domain, qpn, &attr, mask);
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr now;

	if (result != EINVAL) {
		must_be_0(result, "ibv_modify_xrc_rcv_qp");
		return;
	}
	DO(query_xrc_rcv_qp, hca.xrc_domain, qpn, &now, IBV_QP_STATE, &init_attr);
	if (now.qp_state < attr.qp_state)
		job_die("receive QP 0x%x is in state %d, wanted was %d", qpn, now.qp_state,
			attr.qp_state);
}

/*
 * Creates all QPs and exchanges their numbers. Then all processes modify all QPs at the same time.
 */
static void connect_all(void)
{
	int first = job_first_peer(), end = first + job.local_size, peer;
	uint32_t psn = (uint32_t)job.size;
	struct bootstrap mine = { .lid = hca.lid };

	snd_qp = must(create_qp(IBV_QPT_XRC, inline_limit == UINT32_MAX ? 64 : inline_limit),
		      "ibv_create_qp");
	for (peer = first; peer < end; peer++)
		get_rcv_qp(&supernode->rcv_qpn[peer]);
	mine.snd_qpn = snd_qp->qp_num;
	mine.srqn[SRQ_REQUEST] = pools[SRQ_REQUEST].srq->xrc_srq_num;
	mine.srqn[SRQ_REPLY] = pools[SRQ_REPLY].srq->xrc_srq_num;
	memcpy(mine.rcv_qpn, supernode->rcv_qpn, sizeof(mine.rcv_qpn));
	job_gather(&mine, sizeof(mine), boot);
	for (peer = first; peer < end; peer++)
		modify_rcv_qp(supernode->rcv_qpn[peer], hca_init_attr(), MASK_INIT);
	hca_to_init(snd_qp);
	for (peer = first; peer < end; peer++)
		modify_rcv_qp(supernode->rcv_qpn[peer],
			      hca_rtr_attr(boot[peer].snd_qpn, boot[peer].lid, psn), MASK_RTR);
	hca_to_rtr(snd_qp, boot[first].rcv_qpn[job.rank], boot[first].lid, psn);
	hca_to_rts(snd_qp, 18, psn);
	job_barrier();
}

/* ---- Data ---- */

/*
 * Sets the SRQ's number in every request, also where RDMA does not need it. The QP signals all
 * requests, so none has the flag.
 */
static struct ibv_qp *prepare(int peer, unsigned queue, struct ibv_send_wr *wr)
{
	wr->send_flags = 0;
	if (wr->opcode == IBV_WR_SEND) {
		wr->opcode = IBV_WR_SEND_WITH_IMM;
		wr->imm_data = htonl((uint32_t)queue << 8 | (uint32_t)job.rank);
		wr->send_flags = wr->sg_list->length <= 48 ? IBV_SEND_INLINE : 0;
	}
	wr->xrc_remote_srq_num = boot[peer].srqn[queue];
	return snd_qp;
}

/* GASNet knows the sender by the receive QP's number alone. Each request is replied to. */
static void take_message(int from, unsigned queue, const struct ibv_wc *wc)
{
	if (wc->qp_num != supernode->rcv_qpn[from])
		job_die("QP 0x%x received a message of rank %d", wc->qp_num, from);
	if (!(wc->wc_flags & IBV_WC_WITH_IMM) ||
	    ntohl(wc->imm_data) != (queue << 8 | (uint32_t)from))
		job_die("immediate data 0x%x from rank %d", ntohl(wc->imm_data), from);
	if (queue == SRQ_REQUEST)
		data_send(from, SRQ_REPLY);
}

static void progress(void)
{
	while (data_poll(hca.cq))
		;
	job_idle();
}

static void take_receptions(int peer)
{
	(void)peer;
	while (data_poll(rcv_cq))
		;
}

static void wait_for_receptions(void)
{
	if (hca.channel)
		hca_wait_for_event();
	else
		job_idle();
	take_receptions(0);
}

static const struct data data = {
	.messages = 30, .queues = 1, .size = 1024, .short_size = 48,
	.ready = take_receptions, .prepare = prepare, .take_message = take_message,
	.progress = progress, .wait = wait_for_receptions,
};

/* GASNET_RCV_THREAD waits for events of receptions alone. */
static void start(void)
{
	struct ibv_qp *rc;
	int queue;

	supernode = (struct supernode *)job.host_memory;
	hca.filler = 0xa5;
	hca_open();
	hca.cq = hca_create_cq(2 * SENDS, NULL);
	rcv_cq = hca_create_cq(SRQS * BUFFERS, hca.channel);
	hca_reg_mr(&data_memory, sizeof(data_memory));
	data_start(&data);
	xrc_init();
	for (queue = 0; queue < SRQS; queue++)
		pool_start(&pools[queue], hca_create_srq(rcv_cq, BUFFERS, 0), BUFFERS, BUFFERS,
			   BUFFERS);
	probe_inline_limit();
	rc = must(create_qp(IBV_QPT_RC, 0), "ibv_create_qp of type RC");
	must_be_0(ibv_destroy_qp(rc), "ibv_destroy_qp of type RC");
	hca_arm(rcv_cq);
	connect_all();
}

static void shut_down(void)
{
	int i;

	DO(destroy_qp, snd_qp);
	for (i = 0; i < job.size; i++)
		if (supernode->rcv_qpn[i] > ELECTED)
			DO(unreg_xrc_rcv_qp, hca.xrc_domain, supernode->rcv_qpn[i]);
	DO(destroy_srq, pools[SRQ_REQUEST].srq);
	DO(destroy_srq, pools[SRQ_REPLY].srq);
	DO(destroy_cq, hca.cq);
	DO(destroy_cq, rcv_cq);
	hca_close();
}

static int rank_main(void)
{
	start();
	data_exchange();
	data_await(SRQ_REPLY);
	job_barrier();
	if (shuts_down)
		shut_down();
	return 0;
}

int main(int argc, char **argv)
{
	shuts_down = job_option(argc, argv, "--shutdown");
	return client_main(argc, argv, PROCESSES, rank_main);
}
