/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the openib BTL of Open MPI 1.4 does with X queues: it opens the domain's file read-only, has
 * several SRQs on two CQs, stops with receive QPs at RTR, posts more receives when an SRQ reaches
 * its limit, and shuts down endpoint by endpoint.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hca.h"
#include "openmpi.h"
#include "slots.h"

#define MESSAGES 80		/* to each process of the other host, on both queues by turns */
#define RDMA_SIZE 10000

struct modex {
	uint32_t rkey;
	uint64_t put_to, get_from;
};

struct device device;
struct endpoint endpoints[JOB_RANKS_MAX];

static struct {
	char receive[QUEUES][RD_NUM][FRAGMENT];
	char send[SD_MAX][FRAGMENT];
	char put_from[JOB_RANKS_MAX][RDMA_SIZE], put_to[JOB_RANKS_MAX][RDMA_SIZE];
	char get_from[JOB_RANKS_MAX][RDMA_SIZE], get_to[JOB_RANKS_MAX][RDMA_SIZE];
} memory;

static struct modex modex[JOB_RANKS_MAX];
static struct ibv_comp_channel *channel;
static struct ibv_mr *mr;
static int xrc_fd, progress_thread;
static struct slots slots = { .count = SD_MAX };
static unsigned sent_to[JOB_RANKS_MAX], received_from[JOB_RANKS_MAX];
static uint32_t next_from[JOB_RANKS_MAX][QUEUES];

/* ---- Start ---- */

static void init_one_device(void)
{
	device.context = hca_open_with_xrc(&device.lid);
	device.max_inline_data = 128;
	device.pd = must(ibv_alloc_pd(device.context), "ibv_alloc_pd");
	mr = must(ibv_reg_mr(device.pd, &memory, sizeof(memory),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ),
		  "ibv_reg_mr");
}

/* Opens the file read-only, with O_CREAT alone, and keeps it open to the end. */
static void open_xrc_domain(void)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/host%c-openib_xrc_domain_%s", job.dir, 'A' + job.host,
		 ibv_get_device_name(device.context->device));
	xrc_fd = open(file, O_CREAT, 0600);
	if (xrc_fd < 0)
		job_die("%s: %s", file, strerror(errno));
	device.xrc_domain =
		must(ibv_open_xrc_domain(device.context, xrc_fd, O_CREAT), "ibv_open_xrc_domain");
	if (device.xrc_domain->context != device.context)
		job_die("xrc_domain->context is not the device's");
}

static void post_one(int i, int fragment)
{
	hca_post_srq_recv(device.queues[i].srq, (uint64_t)(i << 8 | fragment),
			  memory.receive[i][fragment], FRAGMENT, mr->lkey);
}

void post_srr(int i, int force)
{
	struct queue *queue = &device.queues[i];

	pthread_mutex_lock(&queue->lock);
	if (force || queue->posted <= RD_LOW)
		while (queue->posted < queue->wanted && queue->free_count) {
			post_one(i, queue->free[--queue->free_count]);
			queue->posted++;
		}
	pthread_mutex_unlock(&queue->lock);
}

static void create_srq(int i)
{
	struct queue *queue = &device.queues[i];
	struct ibv_srq_attr limit = { .srq_limit = SRQ_LIMIT };
	struct ibv_srq_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.attr.max_wr = RD_NUM + SD_MAX;
	attr.attr.max_sge = 1;
	queue->srq = ibv_create_xrc_srq(device.pd, device.xrc_domain, device.cq[i], &attr);
	if (!queue->srq)
		job_die("ibv_create_xrc_srq: %s%s", strerror(errno),
			errno == ENOMEM ? " (memlock limit?)" : "");
	pthread_mutex_init(&queue->lock, NULL);
	queue->wanted = RD_INIT;
	while (queue->free_count < RD_NUM) {
		queue->free[queue->free_count] = queue->free_count;
		queue->free_count++;
	}
	post_srr(i, 1);
	must_be_0(ibv_modify_srq(queue->srq, &limit, IBV_SRQ_LIMIT), "ibv_modify_srq");
}

static void start(void)
{
	struct modex mine;
	int i;

	for (i = 0; i < job.size; i++)
		job_fill(memory.get_from[i], RDMA_SIZE, i, 0);
	init_one_device();
	async_start();
	open_xrc_domain();
	if (progress_thread)
		channel = must(ibv_create_comp_channel(device.context), "ibv_create_comp_channel");
	for (i = 0; i < QUEUES; i++) {
		device.cq[i] =
			must(ibv_create_cq(device.context, 512, NULL, channel, 0), "ibv_create_cq");
		if (channel)
			must_be_0(ibv_req_notify_cq(device.cq[i], 0), "ibv_req_notify_cq");
	}
	for (i = 0; i < QUEUES; i++)
		create_srq(i);
	mine = (struct modex){ mr->rkey, (uintptr_t)memory.put_to, (uintptr_t)memory.get_from };
	job_gather(JOB_WORLD, &mine, sizeof(mine), modex);
}

/* ---- Data ---- */

static void take_received(const struct ibv_wc *wc)
{
	int i = (int)(wc->wr_id >> 8), fragment = (int)(wc->wr_id & 0xff);
	struct queue *queue = &device.queues[i];
	uint32_t sequence;
	int from = job_verify(memory.receive[i][fragment], wc->byte_len, &sequence);

	/* Messages arrive in order on each queue; each queue has a CQ. */
	if (sequence % QUEUES != (uint32_t)i || sequence / QUEUES != next_from[from][i]++)
		job_die("message %u from rank %d came out of order on queue %d", sequence, from, i);
	received_from[from]++;
	if (sequence == MESSAGES - 1)
		job_verify_rdma(from, memory.put_to[from], RDMA_SIZE);
	pthread_mutex_lock(&queue->lock);
	queue->free[queue->free_count++] = fragment;
	queue->posted--;
	pthread_mutex_unlock(&queue->lock);
	post_srr(i, 0);
}

static int poll_one(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	if (!hca_poll_cq(cq, &wc))
		return 0;
	if (wc.opcode & IBV_WC_RECV)
		take_received(&wc);
	else
		slots_give(&slots, (unsigned)wc.wr_id);
	return 1;
}

/* Waits only for a moment, since connection messages may come at any time. */
static void wait_for_event(void)
{
	struct pollfd one = { .fd = channel->fd, .events = POLLIN };

	if (poll(&one, 1, 1) > 0)
		hca_wait_for_event(channel);
}

static void progress(void)
{
	xoob_progress();
	if (poll_one(device.cq[0]) || poll_one(device.cq[1]))
		return;
	if (channel)
		wait_for_event();
	job_idle();
}

static unsigned free_slot(void)
{
	return slots_wait(&slots, progress);
}

static void post_send(int rank, unsigned slot, struct ibv_send_wr *wr, struct ibv_sge *sge,
		      uint32_t srq)
{
	struct ibv_send_wr *bad;

	wr->wr_id = slot;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->xrc_remote_srq_num = srq;
	must_be_0(ibv_post_send(xoob_addr(rank)->qp, wr, &bad), "ibv_post_send");
	slots_take(&slots, slot);
}

/*
 * Messages alternate between the queues, and between those with immediate data and those without.
 */
static void send_message(int rank)
{
	uint32_t sequence = sent_to[rank]++;
	unsigned slot = free_slot();
	struct ibv_sge sge = { (uintptr_t)memory.send[slot], sequence % 5 ? FRAGMENT : 96,
			       mr->lkey };
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_SIGNALED, .imm_data = sequence };

	wr.opcode = sequence & 2 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
	if (sge.length <= device.max_inline_data)
		wr.send_flags |= IBV_SEND_INLINE;
	job_fill(memory.send[slot], sge.length, rank, sequence);
	post_send(rank, slot, &wr, &sge, endpoints[rank].rem_srqs[sequence % QUEUES]);
}

static void rdma(int rank, enum ibv_wr_opcode opcode, char *local, uint64_t remote)
{
	struct ibv_sge sge = { (uintptr_t)local, RDMA_SIZE, mr->lkey };
	struct ibv_send_wr wr = { .send_flags = IBV_SEND_SIGNALED, .opcode = opcode };

	wr.wr.rdma.remote_addr = remote + (uint64_t)job.rank * RDMA_SIZE;
	wr.wr.rdma.rkey = modex[rank].rkey;
	post_send(rank, free_slot(), &wr, &sge, endpoints[rank].rem_srqs[0]);
}

static void put_and_get(int rank)
{
	job_fill(memory.put_from[rank], RDMA_SIZE, rank, MESSAGES);
	rdma(rank, IBV_WR_RDMA_WRITE, memory.put_from[rank], modex[rank].put_to);
	rdma(rank, IBV_WR_RDMA_READ, memory.get_to[rank], modex[rank].get_from);
}

static void connect_to(int rank)
{
	if (endpoints[rank].state == ENDPOINT_CLOSED)
		xoob_start_connect(rank);
	while (endpoints[rank].state != ENDPOINT_CONNECTED)
		progress();
}

static int all_done(unsigned messages)
{
	return job_heard_all(received_from, messages) && !slots.in_flight;
}

static void exchange(void)
{
	int message, turn, i;

	/*
	 * Asks for all endpoints at once, so the second is asked for while the first is being
	 * connected.
	 */
	for (turn = 0; turn < job.local_size; turn++)
		xoob_start_connect(job_peer(turn));
	for (message = 0; message < MESSAGES; message++)
		for (turn = 0; turn < job.local_size; turn++) {
			connect_to(job_peer(turn));
			if (message == MESSAGES - 1)
				put_and_get(job_peer(turn));
			send_message(job_peer(turn));
		}
	while (!all_done(MESSAGES))
		progress();
	for (turn = 0; turn < job.local_size; turn++)
		job_verify_rdma(job_peer(turn), memory.get_to[job_peer(turn)], RDMA_SIZE);
	for (i = 0; i < QUEUES; i++)
		while (!__atomic_load_n(&device.queues[i].limit_events, __ATOMIC_RELAXED))
			job_idle();
	job_barrier_with(progress);
}

/*
 * Host B unregisters from its receive QP for rank 0, and sends rank 0 no message about it. Rank 0
 * asks for a registration with the receive QP, is answered that there is none, and connects anew
 * to both ranks of B.
 */
static void reconnect(void)
{
	int turn;

	if (job.host == 1)
		xoob_drop_recv_qp(0);
	job_barrier_with(progress);
	if (job.rank == 0) {
		for (turn = job.local_size - 1; turn >= 0; turn--) {
			endpoints[job_peer(turn)].state = ENDPOINT_CLOSED;
			connect_to(job_peer(turn));
			send_message(job_peer(turn));
		}
		while (slots.in_flight)
			progress();
		if (xoob_gone != 1)
			job_die("a receive QP was gone %u times, not once", xoob_gone);
	}
	while (job.host == 1 && received_from[0] <= MESSAGES)
		progress();
	job_barrier_with(progress);
}

/* ---- End ---- */

static int finish(void)
{
	int i;

	xoob_finalize();
	for (i = 0; i < QUEUES; i++)
		must_be_0(ibv_destroy_srq(device.queues[i].srq), "ibv_destroy_srq");
	async_stop();
	for (i = 0; i < QUEUES; i++)
		must_be_0(ibv_destroy_cq(device.cq[i]), "ibv_destroy_cq");
	must_be_0(ibv_dereg_mr(mr), "ibv_dereg_mr");
	must_be_0(ibv_close_xrc_domain(device.xrc_domain), "ibv_close_xrc_domain");
	must_be_0(close(xrc_fd), "close");
	if (channel)
		must_be_0(ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	must_be_0(ibv_dealloc_pd(device.pd), "ibv_dealloc_pd");
	must_be_0(ibv_close_device(device.context), "ibv_close_device");
	return 0;
}

static int rank_main(void)
{
	start();
	exchange();
	reconnect();
	return finish();
}

int main(int argc, char **argv)
{
	static const char *const flags[] = { "--poll", "--event", NULL };

	job_options(argc, argv, flags);
	progress_thread = job_option(argc, argv, "--event");
	return job_run("openmpi", 2, rank_main);
}
