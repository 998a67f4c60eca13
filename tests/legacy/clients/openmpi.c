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

#include "openmpi.h"

#define MESSAGES 40		/* to each process of the other host, on each queue */

struct device device;
struct endpoint endpoints[JOB_RANKS_MAX];

static struct ibv_comp_channel *channel;
static struct ibv_mr *mr;
static int xrc_fd, progress_thread;

/* ---- Start ---- */

static void init_one_device(void)
{
	device.context = hca_open_with_xrc(&device.lid);
	device.max_inline_data = 128;
	device.pd = must(ibv_alloc_pd(device.context), "ibv_alloc_pd");
	mr = must(ibv_reg_mr(device.pd, &data_memory, sizeof(data_memory),
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

void post_srr(int i, int force)
{
	struct queue *queue = &device.queues[i];

	pthread_mutex_lock(&queue->lock);
	if (force || queue->posted <= RD_LOW)
		while (queue->posted < queue->wanted && queue->free_count) {
			data_post_recv(queue->srq, (unsigned)i, queue->free[--queue->free_count]);
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

/* ---- Data ---- */

/*
 * Messages alternate between the queues, and between those with immediate data and those without.
 */
static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	wr->send_flags = IBV_SEND_SIGNALED;
	if (wr->sg_list->length <= device.max_inline_data)
		wr->send_flags |= IBV_SEND_INLINE;
	if (wr->opcode == IBV_WR_SEND && wr->imm_data & 2)
		wr->opcode = IBV_WR_SEND_WITH_IMM;
	wr->xrc_remote_srq_num = endpoints[rank].rem_srqs[queue];
	return xoob_addr(rank)->qp;
}

static void take_buffer(unsigned i, unsigned fragment)
{
	struct queue *queue = &device.queues[i];

	pthread_mutex_lock(&queue->lock);
	queue->free[queue->free_count++] = fragment;
	queue->posted--;
	pthread_mutex_unlock(&queue->lock);
	post_srr((int)i, 0);
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
	if (data_poll(device.cq[0]) || data_poll(device.cq[1]))
		return;
	if (channel)
		wait_for_event();
	job_idle();
}

static void connect_to(int rank)
{
	if (endpoints[rank].state == ENDPOINT_CLOSED)
		xoob_start_connect(rank);
	while (endpoints[rank].state != ENDPOINT_CONNECTED)
		progress();
}

static const struct data data = {
	.messages = MESSAGES, .queues = QUEUES, .size = 2048, .short_size = 96, .gets = 1,
	.ready = connect_to, .prepare = prepare, .take_buffer = take_buffer, .progress = progress,
};

static void start(void)
{
	int i;

	init_one_device();
	data_start(&data, mr->lkey, mr->rkey);
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
}

static void exchange(void)
{
	int turn, i;

	/*
	 * Asks for all endpoints at once, so the second is asked for while the first is being
	 * connected.
	 */
	for (turn = 0; turn < job.local_size; turn++)
		xoob_start_connect(job_peer(turn));
	data_exchange();
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
			data_send(job_peer(turn), 0);
		}
		data_await(0);
		if (xoob_gone != 1)
			job_die("a receive QP was gone %u times, not once", xoob_gone);
	}
	while (job.host == 1 && data_received(0, 0) <= MESSAGES)
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
