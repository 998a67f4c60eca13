/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What GASNet's vapi-conduit does with XRC. It leaves garbage in every init_attr. It closes and
 * unlinks the domain's file at once. All processes of a supernode modify the same receive QPs.
 *
 * Built twice: by default it ends by exit(), destroys nothing and does not refer to
 * ibv_unreg_xrc_rcv_qp; with GASNETC_IBV_SHUTDOWN it unregisters and destroys everything.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gasnet.h"

#define PROCESSES 3		/* of a supernode; they race for its receive QPs */
#define BUFFERS 96		/* enough for all messages: this protocol has no credits */

struct supernode *supernode;
struct bootstrap boot[JOB_RANKS_MAX];
struct ibv_pd *pd;
struct ibv_cq *snd_cq, *rcv_cq;
struct ibv_xrc_domain *xrc_domain;
struct ibv_qp *snd_qp;

static struct ibv_context *hca;
static struct ibv_comp_channel *channel;
static struct ibv_srq *srqs[SRQS];
static struct ibv_mr *mr, *segment_mr;
/* GASNET_RCV_THREAD: waits for completion events and does not poll */
static int receive_thread;

/* ---- Start ---- */

static void open_hca(void)
{
	hca = hca_open_with_xrc(&boot[job.rank].lid);
	pd = must(ibv_alloc_pd(hca), "ibv_alloc_pd");
	mr = must(ibv_reg_mr(pd, &data_memory.local, sizeof(data_memory.local),
			     IBV_ACCESS_LOCAL_WRITE),
		  "ibv_reg_mr");
	segment_mr = must(ibv_reg_mr(pd, &data_memory.remote, sizeof(data_memory.remote),
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ),
			  "ibv_reg_mr");
	snd_cq = must(ibv_create_cq(hca, 2 * SENDS, NULL, NULL, 0), "ibv_create_cq");
	if (receive_thread)
		channel = must(ibv_create_comp_channel(hca), "ibv_create_comp_channel");
	rcv_cq = must(ibv_create_cq(hca, SRQS * BUFFERS, NULL, channel, 0), "ibv_create_cq");
}

/*
 * The file is closed right after the open, and unlinked when all processes of the supernode have
 * opened the domain.
 */
static void xrc_init(void)
{
	char file[128];
	int fd;

	if (!job.local_rank)
		supernode->leader = getpid();
	job_barrier(JOB_HOST);
	snprintf(file, sizeof(file), "%s/GASNETxrc-%x0-%d", job.dir, boot[job.rank].lid,
		 (int)supernode->leader);
	fd = open(file, O_CREAT, 0600);
	if (fd < 0)
		job_die("%s: %s", file, strerror(errno));
	xrc_domain = ibv_open_xrc_domain(hca, fd, O_CREAT);
	if (!xrc_domain)
		job_die("%s: %s", errno == ENOSYS ? "lack of XRC" : "ibv_open_xrc_domain",
			strerror(errno));
	close(fd);
	job_barrier(JOB_HOST);
	unlink(file);
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

static void take_buffer(unsigned queue, unsigned slot)
{
	data_post_recv(srqs[queue], queue, slot);
}

/* GASNet knows the sender by the receive QP's number alone. */
static int sender_of(const struct ibv_wc *wc)
{
	int i;

	for (i = 0; i < job.local_size; i++)
		if (wc->qp_num == supernode->rcv_qpn[job_first_peer() + i])
			return job_first_peer() + i;
	job_die("received on QP 0x%x, which is none of ours", wc->qp_num);
}

/* Each request is replied to. */
static void take_message(int from, unsigned queue, const struct ibv_wc *wc)
{
	if (sender_of(wc) != from)
		job_die("QP 0x%x received a message of rank %d", wc->qp_num, from);
	if (!(wc->wc_flags & IBV_WC_WITH_IMM) ||
	    ntohl(wc->imm_data) != (queue << 8 | (uint32_t)from))
		job_die("immediate data 0x%x from rank %d", ntohl(wc->imm_data), from);
	if (queue == SRQ_REQUEST)
		data_send(from, SRQ_REPLY);
}

static void progress(void)
{
	while (data_poll(snd_cq))
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
	if (channel)
		hca_wait_for_event(channel);
	else
		job_idle();
	take_receptions(0);
}

static const struct data data = {
	.messages = 30, .queues = 1, .size = 1024, .short_size = 48, .gets = 1, .filler = GARBAGE,
	.ready = take_receptions, .prepare = prepare, .take_buffer = take_buffer,
	.take_message = take_message, .progress = progress, .wait = wait_for_receptions,
};

static void srq_init(enum queue queue)
{
	struct ibv_srq_init_attr attr;
	unsigned slot;

	garbage(&attr, sizeof(attr));
	attr.srq_context = NULL;
	attr.attr.max_wr = BUFFERS;
	attr.attr.max_sge = 1;
	attr.attr.srq_limit = 0;
	srqs[queue] = must(ibv_create_xrc_srq(pd, xrc_domain, rcv_cq, &attr), "ibv_create_xrc_srq");
	boot[job.rank].srqn[queue] = srqs[queue]->xrc_srq_num;
	for (slot = 0; slot < BUFFERS; slot++)
		take_buffer(queue, slot);
}

static void start(void)
{
	struct ibv_qp *rc;

	supernode = job.host_memory;
	open_hca();
	data_start(&data, mr->lkey, segment_mr->rkey);
	xrc_init();
	srq_init(SRQ_REQUEST);
	srq_init(SRQ_REPLY);
	probe_inline_limit();
	/* The same function creates RC QPs, for which it leaves xrc_domain uninitialised. */
	rc = must(create_qp(IBV_QPT_RC, 0), "ibv_create_qp of type RC");
	must_be_0(ibv_destroy_qp(rc), "ibv_destroy_qp of type RC");
	if (channel)
		must_be_0(ibv_req_notify_cq(rcv_cq, 0), "ibv_req_notify_cq");
	connect_all();
}

/* ---- End: not in the default build ---- */

#ifdef GASNETC_IBV_SHUTDOWN
static void shut_down(void)
{
	destroy_qps();
	must_be_0(ibv_destroy_srq(srqs[SRQ_REQUEST]), "ibv_destroy_srq");
	must_be_0(ibv_destroy_srq(srqs[SRQ_REPLY]), "ibv_destroy_srq");
	must_be_0(ibv_destroy_cq(snd_cq), "ibv_destroy_cq");
	must_be_0(ibv_destroy_cq(rcv_cq), "ibv_destroy_cq");
	must_be_0(ibv_dereg_mr(mr), "ibv_dereg_mr");
	must_be_0(ibv_dereg_mr(segment_mr), "ibv_dereg_mr");
	must_be_0(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	must_be_0(ibv_close_device(hca), "ibv_close_device");
}
#endif

static int rank_main(void)
{
	start();
	data_exchange();
	data_await(SRQ_REPLY);
	job_barrier(JOB_WORLD);
#ifdef GASNETC_IBV_SHUTDOWN
	shut_down();
#endif
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const flags[] = { "--poll", "--event", NULL };

	job_options(argc, argv, flags);
	receive_thread = job_option(argc, argv, "--event");
#ifdef GASNETC_IBV_SHUTDOWN
	return job_run("gasnet-shutdown", PROCESSES, rank_main);
#else
	return job_run("gasnet", PROCESSES, rank_main);
#endif
}
