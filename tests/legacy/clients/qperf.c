/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What qperf 0.4 does for xrc_bw, xrc_bi_bw and xrc_lat: client and server, each with one XRC QP
 * that both sends and receives, a private domain, and queues of size 0 where the test needs none.
 */

#include "client.h"

#define MESSAGE_SIZE 1024
#define DEPTH 32		/* work requests in flight */
#define WR_SEND 1000u		/* the first wr_id of sends, and that of receives */
#define WR_RECV 2000u
#define BW_MESSAGES 200
#define LAT_MESSAGES 50
#define CLIENT (job.rank == 0)
#define PEER (1 - job.rank)

/* What the two exchange by TCP. */
static struct host_info {
	uint32_t lid, qp_num, psn, srq_num;
} lnode, rnode;

static struct ibv_srq *srq;
static struct ibv_qp *qp;
static uint32_t max_inline, sent, completed, received;
static char buffer[2][DEPTH][MESSAGE_SIZE];	/* to send, received */

static void create_qp(uint32_t max_send_wr)
{
	struct ibv_qp_init_attr attr = hca_qp_attr(0);

	attr.cap.max_send_wr = max_send_wr;
	attr.cap.max_recv_sge = 0;
	qp = hca_create_qp(attr);
	hca_to_init(qp);
}

/* Asks in state INIT, and reads attr, not init_attr. */
static void ask_inline_size(void)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	DO(query_qp, qp, &attr, IBV_QP_CAP, &init_attr);
	max_inline = attr.cap.max_inline_data;
	if (max_inline > 1 << 16)
		job_die("max_inline_data %u", max_inline);
}

static void rd_open(uint32_t max_send_wr, uint32_t max_recv_wr)
{
	sent = completed = received = 0;
	hca_open_device();
	hca_alloc_pd();
	hca.xrc_domain = MAKE(open_xrc_domain, hca.context, -1, O_CREAT);
	hca.cq = hca_create_cq((int)(max_send_wr + max_recv_wr), hca.channel);
	srq = hca_create_srq(hca.cq, max_recv_wr, 0);
	create_qp(max_send_wr);
	ask_inline_size();
	hca_reg_mr(buffer, sizeof(buffer));
}

static void rd_prep(void)
{
	struct host_info both[JOB_HOSTS];

	lnode = (struct host_info){ hca.lid, qp->qp_num, qp->qp_num * 7 & 0xffffff,
				    srq->xrc_srq_num };
	job_gather(&lnode, sizeof(lnode), both);
	rnode = both[PEER];
	hca_to_rtr(qp, rnode.qp_num, rnode.lid, rnode.psn);
	hca_to_rts(qp, 14, lnode.psn);
	hca_arm(hca.cq);
}

static void post_recv(unsigned slot)
{
	struct ibv_sge sge = { (uintptr_t)buffer[1][slot], MESSAGE_SIZE, hca.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = WR_RECV + slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	DO(post_srq_recv, srq, &wr, &bad);
}

static void post_send(unsigned slot, uint32_t size)
{
	struct ibv_sge sge = { (uintptr_t)buffer[0][slot], size, hca.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = WR_SEND + slot,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | (size <= max_inline ? IBV_SEND_INLINE : 0),
		.xrc_remote_srq_num = rnode.srq_num,
	};
	struct ibv_send_wr *bad;

	job_fill(buffer[0][slot], size, PEER, sent++);
	DO(post_send, qp, &wr, &bad);
}

static void take_received(const struct ibv_wc *wc)
{
	unsigned slot = (unsigned)(wc->wr_id - WR_RECV);
	uint32_t sequence;

	if (slot >= DEPTH || job_verify(buffer[1][slot], wc->byte_len, &sequence) != PEER ||
	    sequence != received)
		job_die("message %u was expected", received);
	if (wc->qp_num != lnode.qp_num)
		job_die("received on QP 0x%x, not on 0x%x", wc->qp_num, lnode.qp_num);
	received++;
	post_recv(slot);
}

/*
 * Takes all completions; calls @on_sent with the slot of each completed send. Without --poll it
 * first waits for one event, acknowledges it at once and arms the CQ.
 */
static void progress(void (*on_sent)(unsigned slot))
{
	/* Room for all: a completion that came before the CQ was armed raises no event. */
	struct ibv_wc wc[2 * DEPTH];
	int i, count;

	if (hca.channel && hca_wait_for_event() != hca.cq)
		job_die("an event of another CQ");
	count = ibv_poll_cq(hca.cq, 2 * DEPTH, wc);
	if (count < 0)
		job_die("ibv_poll_cq returned %d", count);
	if (!count && !hca.channel)
		job_idle();
	for (i = 0; i < count; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			job_die("wr_id %llu: %s", (unsigned long long)wc[i].wr_id,
				ibv_wc_status_str(wc[i].status));
		if (wc[i].wr_id >= WR_RECV) {
			take_received(&wc[i]);
			continue;
		}
		completed++;
		if (on_sent)
			on_sent((unsigned)(wc[i].wr_id - WR_SEND));
	}
}

static void send_next(unsigned slot)
{
	if (sent < BW_MESSAGES)
		post_send(slot, MESSAGE_SIZE);
}

/*
 * Closes in qperf's order. qperf ignores all results: ibv_dealloc_pd fails, because the memory is
 * deregistered later.
 */
static void rd_close(void)
{
	job_barrier();
	DO(destroy_qp, qp);
	DO(destroy_srq, srq);
	hca_close_domain();
	DO(destroy_cq, hca.cq);
	if (!ibv_dealloc_pd(hca.pd))
		job_die("ibv_dealloc_pd deallocated the PD of registered memory");
	hca_close_channel();
	DO(dereg_mr, hca.mr);
	DO(close_device, hca.context);
}

/* A side that only receives has no send queue. A side that only sends posts no receives. */
static void bandwidth(int sends, int receives)
{
	unsigned slot;

	rd_open(sends ? DEPTH : 0, receives ? DEPTH : 0);
	rd_prep();
	for (slot = 0; receives && slot < DEPTH; slot++)
		post_recv(slot);
	job_barrier();
	for (slot = 0; sends && slot < DEPTH; slot++)
		send_next(slot);
	while ((sends && completed < BW_MESSAGES) || (receives && received < BW_MESSAGES))
		progress(send_next);
	rd_close();
}

static void xrc_lat(void)
{
	uint32_t turn;

	rd_open(1, 1);
	rd_prep();
	post_recv(0);
	job_barrier();
	for (turn = 0; turn < LAT_MESSAGES; turn++) {
		if (CLIENT)
			post_send(0, 16);
		while (received <= turn)
			progress(NULL);
		if (!CLIENT)
			post_send(0, 16);
		while (completed <= turn)
			progress(NULL);
	}
	rd_close();
}

static int rank_main(void)
{
	hca.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	bandwidth(CLIENT, !CLIENT);	/* xrc_bw */
	bandwidth(1, 1);		/* xrc_bi_bw */
	xrc_lat();
	return 0;
}

int main(int argc, char **argv)
{
	/* the real one blocks unless told otherwise */
	hca.by_events = !job_option(argc, argv, "--poll");
	return job_run(1, rank_main);
}
