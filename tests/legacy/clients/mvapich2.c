/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What MVAPICH2 does with MV2_USE_XRC. Every rank unlinks the domain's file while it is in use;
 * there is one SRQ, and one sending QP for each remote host; the shutdown tries to destroy the CQ
 * before the SRQ. Built twice: linked with libibverbs, and looking it up by dlopen(), as 2.3.5 and
 * later do.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mvapich2.h"
#include "slots.h"

#define BUFFERS 128
#define BUFFER_SIZE 2048
#define MESSAGES 60		/* to each rank of the other host */
#define RDMA_SIZE 8192

struct address {
	uint32_t rkey, lid;
	uint64_t put_to, get_from;
};

struct hca hca;

static struct {
	char receive[BUFFERS][BUFFER_SIZE];
	char send[SENDS][BUFFER_SIZE];
	char put_from[JOB_RANKS_MAX][RDMA_SIZE], put_to[JOB_RANKS_MAX][RDMA_SIZE];
	char get_from[JOB_RANKS_MAX][RDMA_SIZE], get_to[JOB_RANKS_MAX][RDMA_SIZE];
} memory;

static struct ibv_srq *srq_hndl;
static struct ibv_comp_channel *channel;
static struct ibv_mr *mr;
static struct address addresses[JOB_RANKS_MAX];
static pthread_t async_thread;
static int blocking, xrc_fd;
static struct slots slots = { .count = SENDS };
static unsigned sent_to[JOB_RANKS_MAX], received_from[JOB_RANKS_MAX], puts_seen;

/* ---- Start ---- */

static void open_hca(void)
{
	hca.context = hca_open_device();
	hca_check_xrc(hca.context);
	hca.lid = hca_lid(hca.context);
	hca.pd = must(VERB(alloc_pd)(hca.context), "ibv_alloc_pd");
	if (blocking)
		channel = must(VERB(create_comp_channel)(hca.context), "ibv_create_comp_channel");
	hca.cq_hndl = must(VERB(create_cq)(hca.context, 1024, NULL, channel, 0), "ibv_create_cq");
}

static void open_domain(char *file, size_t size)
{
	snprintf(file, size, "%s/mv2_xrc_kvs_%c_%u-0", job.dir, 'A' + job.host, (unsigned)getuid());
	xrc_fd = open(file, O_RDWR | O_CREAT, 0600);
	if (xrc_fd < 0)
		job_die("%s: %s", file, strerror(errno));
	hca.xrc_domain = must(VERB(open_xrc_domain)(hca.context, xrc_fd, O_CREAT), "xrc_domain");
}

/* A build with XRC also reads the number of ordinary SRQs, and does not use it. */
static void read_plain_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *plain = must(VERB(create_srq)(hca.pd, &attr), "ibv_create_srq");

	hca.srqn = *(volatile uint32_t *)&plain->xrc_srq_num;
	must_be_0(VERB(destroy_srq)(plain), "ibv_destroy_srq");
}

static void create_srq(void)
{
	struct ibv_srq_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.srq_context = hca.context;
	attr.attr.max_wr = BUFFERS;
	attr.attr.max_sge = 1;
	attr.attr.srq_limit = 30;	/* "should be ignored" */
	srq_hndl = must(VERB(create_xrc_srq)(hca.pd, hca.xrc_domain, hca.cq_hndl, &attr),
			"ibv_create_xrc_srq");
	hca.srqn = srq_hndl->xrc_srq_num;
	if (!hca.srqn)
		job_die("xrc_srq_num is 0");
}

static void post_recv(unsigned slot)
{
	hca_post_srq_recv(srq_hndl, slot, memory.receive[slot], BUFFER_SIZE, mr->lkey);
}

/* Clears the flag, and sets it again for the ack. */
static void take_event(struct ibv_async_event *event)
{
	int xrc_event = 0;

	if (event->event_type & IBV_XRC_QP_EVENT_FLAG) {
		event->event_type ^= IBV_XRC_QP_EVENT_FLAG;
		xrc_event = 1;
	}
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		job_die("got %sevent %d (%s)", xrc_event ? "XRC " : "", event->event_type,
			VERB(event_type_str)(event->event_type));
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		if (event->element.srq != srq_hndl)
			job_die("limit of an unknown SRQ");
		break;
	default:
		break;
	}
	if (xrc_event)
		event->event_type |= IBV_XRC_QP_EVENT_FLAG;
}

static void *async_main(void *context)
{
	hca_event_loop(context, take_event);
	return NULL;
}

static void start_data(void)
{
	struct address mine;
	unsigned slot;
	int i;

	mr = must(VERB(reg_mr)(hca.pd, &memory, sizeof(memory),
			       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			       IBV_ACCESS_REMOTE_READ),
		  "ibv_reg_mr");
	for (slot = 0; slot < BUFFERS; slot++)
		post_recv(slot);
	for (i = 0; i < job.size; i++)
		job_fill(memory.get_from[i], RDMA_SIZE, i, 0);
	mine = (struct address){ mr->rkey, hca.lid, (uintptr_t)memory.put_to,
				 (uintptr_t)memory.get_from };
	job_gather(JOB_WORLD, &mine, sizeof(mine), addresses);
	if (channel)
		must_be_0(ibv_req_notify_cq(hca.cq_hndl, 0), "ibv_req_notify_cq");
}

static void start(void)
{
	struct ibv_srq_attr limit = { .max_wr = BUFFERS, .max_sge = 1, .srq_limit = 30 };
	char file[128];

	verbs_open();
	open_hca();
	open_domain(file, sizeof(file));
	read_plain_srq();
	create_srq();
	must_be_0(pthread_create(&async_thread, NULL, async_main, hca.context), "pthread_create");
	start_data();
	must_be_0(VERB(modify_srq)(srq_hndl, &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
	cm_start();
	/* No rank needs the name any more. Every rank unlinks it, and one of them succeeds. */
	job_barrier(JOB_WORLD);
	if (unlink(file) && errno != ENOENT)
		job_die("unlink: %s", strerror(errno));
}

/* ---- Data ---- */

static void post_send(int rank, unsigned slot, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
		      uint64_t remote_addr)
{
	struct ibv_send_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = slot;
	wr.sg_list = sge;
	wr.num_sge = 1;
	wr.opcode = opcode;
	wr.send_flags = IBV_SEND_SIGNALED;
	if (opcode == IBV_WR_SEND && sge->length <= 128)
		wr.send_flags |= IBV_SEND_INLINE;
	wr.wr.rdma.remote_addr = remote_addr;
	wr.wr.rdma.rkey = addresses[rank].rkey;
	wr.xrc_remote_srq_num = cm_vc(rank)->remote_srqn;
	must_be_0(ibv_post_send(cm_qp(rank), &wr, &bad), "ibv_post_send");
	slots_take(&slots, slot);
}

static void take_received(const struct ibv_wc *wc)
{
	int from = job_verify_next(memory.receive[wc->wr_id], wc->byte_len, received_from);

	if (received_from[from] == MESSAGES) {
		job_verify_rdma(from, memory.put_to[from], RDMA_SIZE);
		puts_seen++;
	}
	post_recv((unsigned)wc->wr_id);
}

static void progress(void)
{
	struct ibv_wc wc;
	int completed = hca_poll_cq(hca.cq_hndl, &wc);

	if (completed && wc.opcode & IBV_WC_RECV)
		take_received(&wc);
	else if (completed)
		slots_give(&slots, (unsigned)wc.wr_id);
	else if (channel)
		hca_wait_for_event(channel);
	else
		job_idle();
}

static unsigned free_slot(void)
{
	return slots_wait(&slots, progress);
}

static void eager_send(int rank)
{
	unsigned slot = free_slot();
	uint32_t length = sent_to[rank] % 3 ? BUFFER_SIZE : 64;
	struct ibv_sge sge = { (uintptr_t)memory.send[slot], length, mr->lkey };

	job_fill(memory.send[slot], length, rank, sent_to[rank]++);
	post_send(rank, slot, &sge, IBV_WR_SEND, 0);
}

static void put(int rank)
{
	struct ibv_sge sge = { (uintptr_t)memory.put_from[rank], RDMA_SIZE, mr->lkey };

	job_fill(memory.put_from[rank], RDMA_SIZE, rank, MESSAGES);
	post_send(rank, free_slot(), &sge, IBV_WR_RDMA_WRITE,
		  addresses[rank].put_to + (uint64_t)job.rank * RDMA_SIZE);
}

static void get(int rank)
{
	struct ibv_sge sge = { (uintptr_t)memory.get_to[rank], RDMA_SIZE, mr->lkey };

	post_send(rank, free_slot(), &sge, IBV_WR_RDMA_READ,
		  addresses[rank].get_from + (uint64_t)job.rank * RDMA_SIZE);
}

static int all_done(void)
{
	return job_heard_all(received_from, MESSAGES) && !slots.in_flight &&
	       puts_seen == (unsigned)job.local_size;
}

static void exchange(void)
{
	int i, turn;

	for (i = 0; i < MESSAGES; i++)
		for (turn = 0; turn < job.local_size; turn++) {
			cm_connect(job_peer(turn));
			if (i == MESSAGES - 1) {
				get(job_peer(turn));
				put(job_peer(turn));
			}
			eager_send(job_peer(turn));
		}
	while (!all_done())
		progress();
	for (turn = 0; turn < job.local_size; turn++)
		job_verify_rdma(job_peer(turn), memory.get_to[job_peer(turn)], RDMA_SIZE);
}

/* ---- End ---- */

static int finish(void)
{
	int err;

	job_barrier(JOB_WORLD);
	cm_stop();
	cm_finalize();
	err = VERB(destroy_cq)(hca.cq_hndl);
	if (err != EBUSY)
		job_die("ibv_destroy_cq with the SRQ still on it returned %d", err);
	job_cancel_thread(async_thread);
	must_be_0(VERB(destroy_srq)(srq_hndl), "ibv_destroy_srq");
	must_be_0(VERB(close_xrc_domain)(hca.xrc_domain), "ibv_close_xrc_domain");
	must_be_0(close(xrc_fd), "close");
	must_be_0(VERB(dereg_mr)(mr), "ibv_dereg_mr");
	must_be_0(VERB(dealloc_pd)(hca.pd), "ibv_dealloc_pd");
	must_be_0(VERB(close_device)(hca.context), "ibv_close_device");
	return 0;
}

static int rank_main(void)
{
	start();
	exchange();
	return finish();
}

int main(int argc, char **argv)
{
	static const char *const flags[] = { "--poll", "--event", NULL };

	job_options(argc, argv, flags);
	blocking = job_option(argc, argv, "--event");
#ifdef IBV_DLOPEN
	return job_run("mvapich2-dlopen", 2, rank_main);
#else
	return job_run("mvapich2", 2, rank_main);
#endif
}
