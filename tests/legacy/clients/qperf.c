/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What qperf 0.4 does for xrc_bw, xrc_bi_bw and xrc_lat: client and server, each with one XRC QP
 * that both sends and receives, a private domain, and queues of size 0 where the test needs none.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <infiniband/verbs.h>

#include "../../rc_masks.h"
#include "hca.h"
#include "job.h"

#define MESSAGE_SIZE 1024
#define DEPTH 32		/* work requests in flight */
#define BW_MESSAGES 200
#define LAT_MESSAGES 50
#define CLIENT (job.rank == 0)
#define PEER (1 - job.rank)

/* What the two exchange by TCP. */
struct host_info {
	uint32_t lid, qp_num, psn, srq_num;
};

struct device {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_xrc_domain *xrc;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct host_info lnode, rnode;
	uint32_t max_inline;
	char buffer[2][DEPTH][MESSAGE_SIZE];	/* to send, received */
};

enum wr_id {
	WR_SEND = 1000,
	WR_RECV = 2000
};

static int poll_mode;
static struct device dev;
static uint32_t sent, completed, received;

static void create_xrc_srq(uint32_t max_recv_wr)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = max_recv_wr, .max_sge = 1 } };

	dev.srq = must(ibv_create_xrc_srq(dev.pd, dev.xrc, dev.cq, &attr), "ibv_create_xrc_srq");
	dev.lnode.srq_num = dev.srq->xrc_srq_num;
}

static void create_qp(uint32_t max_send_wr)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = dev.cq,
		.recv_cq = dev.cq,
		.cap = { .max_send_wr = max_send_wr,
			 .max_recv_wr = 0,
			 .max_send_sge = 1,
			 .max_recv_sge = 0 },
		.qp_type = IBV_QPT_XRC,
		.xrc_domain = dev.xrc,
	};

	dev.qp = must(ibv_create_qp(dev.pd, &attr), "ibv_create_qp");
	dev.lnode.qp_num = dev.qp->qp_num;
	dev.lnode.psn = dev.qp->qp_num * 7 & 0xffffff;
}

static void to_init(void)
{
	struct ibv_qp_attr attr = hca_init_attr(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |
						IBV_ACCESS_REMOTE_ATOMIC);

	must_be_0(ibv_modify_qp(dev.qp, &attr, MASK_INIT), "ibv_modify_qp to INIT");
}

/* Asks in state INIT, and reads attr, not init_attr. */
static void ask_inline_size(void)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	must_be_0(ibv_query_qp(dev.qp, &attr, IBV_QP_CAP, &init_attr), "ibv_query_qp");
	if (attr.cap.max_inline_data > 1 << 16)
		job_die("max_inline_data %u", attr.cap.max_inline_data);
	dev.max_inline = attr.cap.max_inline_data;
}

static void rd_open(uint32_t max_send_wr, uint32_t max_recv_wr)
{
	int depth = (int)(max_send_wr + max_recv_wr);

	memset(&dev, 0, sizeof(dev));
	sent = completed = received = 0;
	dev.context = hca_open_device();
	dev.lnode.lid = hca_lid(dev.context);
	if (!poll_mode)
		dev.channel = must(ibv_create_comp_channel(dev.context), "ibv_create_comp_channel");
	dev.pd = must(ibv_alloc_pd(dev.context), "ibv_alloc_pd");
	dev.xrc = must(ibv_open_xrc_domain(dev.context, -1, O_CREAT), "ibv_open_xrc_domain");
	dev.cq = must(ibv_create_cq(dev.context, depth, NULL, dev.channel, 0), "ibv_create_cq");
	create_xrc_srq(max_recv_wr);
	create_qp(max_send_wr);
	to_init();
	ask_inline_size();
	dev.mr = must(ibv_reg_mr(dev.pd, dev.buffer, sizeof(dev.buffer),
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC), "ibv_reg_mr");
}

static void to_rtr_and_rts(void)
{
	struct ibv_qp_attr attr =
		hca_rtr_attr(dev.rnode.qp_num, dev.rnode.lid, dev.rnode.psn);

	must_be_0(ibv_modify_qp(dev.qp, &attr, MASK_RTR), "ibv_modify_qp to RTR");
	attr = hca_rts_attr(14, dev.lnode.psn);
	must_be_0(ibv_modify_qp(dev.qp, &attr, MASK_RTS), "ibv_modify_qp to RTS");
}

static void rd_prep(void)
{
	struct host_info both[JOB_HOSTS];

	job_gather(JOB_WORLD, &dev.lnode, sizeof(dev.lnode), both);
	dev.rnode = both[PEER];
	to_rtr_and_rts();
	if (!poll_mode)
		must_be_0(ibv_req_notify_cq(dev.cq, 0), "ibv_req_notify_cq");
}

static void post_recv(unsigned slot)
{
	struct ibv_sge sge = { (uintptr_t)dev.buffer[1][slot], MESSAGE_SIZE, dev.mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = WR_RECV + slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	must_be_0(ibv_post_srq_recv(dev.srq, &wr, &bad), "ibv_post_srq_recv");
}

static void post_send(unsigned slot, uint32_t size)
{
	struct ibv_sge sge = { (uintptr_t)dev.buffer[0][slot], size, dev.mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = WR_SEND + slot,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.xrc_remote_srq_num = dev.rnode.srq_num,
	};
	struct ibv_send_wr *bad;

	if (size <= dev.max_inline)
		wr.send_flags |= IBV_SEND_INLINE;
	job_fill(dev.buffer[0][slot], size, PEER, sent++);
	must_be_0(ibv_post_send(dev.qp, &wr, &bad), "ibv_post_send");
}

/*
 * Takes up to @max completions. Without --poll it first waits for one event, acknowledges it
 * at once and arms the CQ.
 */
static int rd_poll(struct ibv_wc *wc, int max)
{
	int count;

	if (!poll_mode && hca_wait_for_event(dev.channel) != dev.cq)
		job_die("an event of another CQ");
	count = ibv_poll_cq(dev.cq, max, wc);
	if (count < 0)
		job_die("ibv_poll_cq returned %d", count);
	if (!count && poll_mode)
		job_idle();
	return count;
}

static void take_received(const struct ibv_wc *wc)
{
	unsigned slot = (unsigned)(wc->wr_id - WR_RECV);
	uint32_t sequence;

	if (slot >= DEPTH || job_verify(dev.buffer[1][slot], wc->byte_len, &sequence) != PEER ||
	    sequence != received)
		job_die("message %u was expected", received);
	if (wc->qp_num != dev.lnode.qp_num)
		job_die("received on QP 0x%x, not on 0x%x", wc->qp_num, dev.lnode.qp_num);
	received++;
	post_recv(slot);
}

/* Takes all completions; calls @on_sent with the slot of each completed send. */
static void progress(void (*on_sent)(unsigned slot))
{
	/* Room for all: a completion that came before the CQ was armed raises no event. */
	struct ibv_wc wc[2 * DEPTH];
	int i, count = rd_poll(wc, 2 * DEPTH);

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
	job_barrier(JOB_WORLD);
	must_be_0(ibv_destroy_qp(dev.qp), "ibv_destroy_qp");
	must_be_0(ibv_destroy_srq(dev.srq), "ibv_destroy_srq");
	must_be_0(ibv_close_xrc_domain(dev.xrc), "ibv_close_xrc_domain");
	must_be_0(ibv_destroy_cq(dev.cq), "ibv_destroy_cq");
	if (!ibv_dealloc_pd(dev.pd))
		job_die("ibv_dealloc_pd deallocated the PD of registered memory");
	if (dev.channel)
		must_be_0(ibv_destroy_comp_channel(dev.channel), "ibv_destroy_comp_channel");
	must_be_0(ibv_dereg_mr(dev.mr), "ibv_dereg_mr");
	must_be_0(ibv_close_device(dev.context), "ibv_close_device");
}

/* A side that does not send has no send queue; one that does not receive has no receives. */
static void bandwidth(int sends, int receives)
{
	unsigned slot;

	rd_open(sends ? DEPTH : 0, receives ? DEPTH : 0);
	rd_prep();
	for (slot = 0; receives && slot < DEPTH; slot++)
		post_recv(slot);
	job_barrier(JOB_WORLD);
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
	job_barrier(JOB_WORLD);
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
	bandwidth(CLIENT, !CLIENT);	/* xrc_bw */
	bandwidth(1, 1);		/* xrc_bi_bw */
	xrc_lat();
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const flags[] = { "--poll", "--event", NULL };

	job_options(argc, argv, flags);
	/* the real one blocks unless told otherwise */
	poll_mode = job_option(argc, argv, "--poll");
	return job_run("qperf", 1, rank_main);
}
