/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What MVAPICH 1.x does with VIADEV_USE_XRC (ch_gen2). It has no receive QPs: both sides create one
 * XRC QP for each peer host, and both send on it to the SRQs of all processes of the other host.
 *
 * --hybrid: as ch_hybrid, with several SRQs, a query with mask 0, and SRQs that are destroyed
 * before QPs.
 * --private: as its !xrcshared, with a domain of fd -1, and so one QP for each peer process.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "hca.h"
#include "mvapich.h"
#include "slots.h"

#define BUFFERS 48		/* receive buffers of an SRQ */
#define BUFFER_SIZE 2048
#define LIMIT 12
#define MESSAGES 60		/* to each rank of the other host */
#define PUT_SIZE 8192
#define SRQS_MAX 2

struct address {
	uint32_t srqn, put_rkey;
	uint64_t put_addr;
};

/* An SRQ and its buffers. */
struct pool {
	struct ibv_srq *srq_hndl;
	unsigned free[BUFFERS], free_count;	/* received and read: to be posted again */
	unsigned limit_events;
	int closing;
	pthread_mutex_t lock;
};

struct viadev viadev;

static struct {
	char receive[SRQS_MAX][BUFFERS][BUFFER_SIZE];
	char send[SENDS][BUFFER_SIZE];
	char put_from[JOB_RANKS_MAX][PUT_SIZE];
	char put_to[JOB_RANKS_MAX][PUT_SIZE];
} memory;

static struct pool pools[SRQS_MAX];
static struct address addresses[JOB_RANKS_MAX];
static struct ibv_comp_channel *channel;
static struct ibv_mr *mr;
static pthread_t async_thread;
static int blocking, srqs, domain_fd = -1;
static char domain_file[128];
static struct slots slots = { .count = SENDS };
static unsigned sent_to[JOB_RANKS_MAX], received_from[JOB_RANKS_MAX], puts_seen;

/* ---- Start ---- */

static void open_hca(void)
{
	viadev.context = hca_open_with_xrc(&viadev.lid);
	viadev.pd = must(ibv_alloc_pd(viadev.context), "ibv_alloc_pd");
	if (blocking)
		channel = must(ibv_create_comp_channel(viadev.context), "ibv_create_comp_channel");
	viadev.cq_hndl =
		must(ibv_create_cq(viadev.context, 1024, NULL, channel, 0), "ibv_create_cq");
}

static void open_domain(void)
{
	if (!viadev.private_domain) {
		snprintf(domain_file, sizeof(domain_file), "%s/mvapich-xrc-4711-%c-%u-0.tmp",
			 job.dir, 'A' + job.host, (unsigned)getuid());
		domain_fd = open(domain_file, O_RDWR | O_CREAT, 0600);
		if (domain_fd < 0)
			job_die("%s: %s", domain_file, strerror(errno));
	}
	viadev.xrc_domain = must(ibv_open_xrc_domain(viadev.context, domain_fd, O_CREAT),
				 "ibv_open_xrc_domain");
}

static void create_srq(struct pool *pool)
{
	struct ibv_srq_init_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.srq_context = viadev.context;
	attr.attr.max_wr = BUFFERS;
	attr.attr.max_sge = 1;
	attr.attr.srq_limit = viadev.hybrid ? 20 : 30;	/* without meaning at creation */
	pool->srq_hndl =
		must(ibv_create_xrc_srq(viadev.pd, viadev.xrc_domain, viadev.cq_hndl, &attr),
		     "ibv_create_xrc_srq");
	if (!pool->srq_hndl->xrc_srq_num)
		job_die("xrc_srq_num is 0");
}

/* With the lock held. */
static void post_free(struct pool *pool)
{
	unsigned i = (unsigned)(pool - pools);

	while (pool->free_count) {
		unsigned slot = pool->free[--pool->free_count];

		hca_post_srq_recv(pool->srq_hndl, (uint64_t)i << 16 | slot, memory.receive[i][slot],
				  BUFFER_SIZE, mr->lkey);
	}
}

static void arm_limit(struct pool *pool)
{
	struct ibv_srq_attr attr = { .max_wr = BUFFERS, .max_sge = 1, .srq_limit = LIMIT };

	must_be_0(ibv_modify_srq(pool->srq_hndl, &attr, IBV_SRQ_LIMIT), "ibv_modify_srq");
}

/* MVAPICH finds its SRQ by the pointer that ibv_create_xrc_srq returned. */
static void limit_reached(const struct ibv_srq *srq)
{
	int i;

	for (i = 0; i < srqs && pools[i].srq_hndl != srq; i++)
		;
	if (i == srqs)
		job_die("limit of an unknown SRQ");
	__atomic_fetch_add(&pools[i].limit_events, 1, __ATOMIC_RELEASE);
	/* ch_hybrid destroys SRQs while this thread still runs. */
	pthread_mutex_lock(&pools[i].lock);
	if (!pools[i].closing) {
		post_free(&pools[i]);
		arm_limit(&pools[i]);
	}
	pthread_mutex_unlock(&pools[i].lock);
}

/*
 * MVAPICH does not test the XRC flag: it has no receive QPs, so every QP event is for a QP that it
 * created.
 */
static void take_event(struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_COMM_EST:
		if (!cm_has_qp(event->element.qp))
			job_die("COMM_EST of an unknown QP");
		break;
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		limit_reached(event->element.srq);
		break;
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		break;
	default:
		job_die("got event 0x%x (%s)", event->event_type,
			ibv_event_type_str(event->event_type));
	}
}

static void *async_main(void *context)
{
	hca_event_loop(context, take_event);
	return NULL;
}

static void start_pool(struct pool *pool)
{
	pthread_mutex_init(&pool->lock, NULL);
	create_srq(pool);
	while (pool->free_count < BUFFERS) {
		pool->free[pool->free_count] = pool->free_count;
		pool->free_count++;
	}
	post_free(pool);
	arm_limit(pool);
}

static void start(void)
{
	uint32_t srqn[JOB_RANKS_MAX];
	struct pool *last;
	int i;

	open_hca();
	open_domain();
	mr = must(ibv_reg_mr(viadev.pd, &memory, sizeof(memory),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
		  "ibv_reg_mr");
	for (i = 0; i < srqs; i++)
		start_pool(&pools[i]);
	/* MVAPICH sends the number from where it is in the SRQ. */
	last = &pools[srqs - 1];
	job_gather(JOB_WORLD, &last->srq_hndl->xrc_srq_num, sizeof(last->srq_hndl->xrc_srq_num),
		   srqn);
	addresses[job.rank] = (struct address){ 0, mr->rkey, (uintptr_t)memory.put_to };
	job_gather(JOB_WORLD, &addresses[job.rank], sizeof(addresses[0]), addresses);
	for (i = 0; i < job.size; i++)
		addresses[i].srqn = srqn[i];
	must_be_0(pthread_create(&async_thread, NULL, async_main, viadev.context),
		  "pthread_create");
	if (channel)
		must_be_0(ibv_req_notify_cq(viadev.cq_hndl, 0), "ibv_req_notify_cq");
}

/* ---- Data ---- */

static void post_send(uint32_t rank, unsigned slot, struct ibv_sge *sge, enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr, *bad;

	memset(&wr, 0, sizeof(wr));
	wr.wr_id = slot;
	wr.sg_list = sge;
	wr.num_sge = 1;
	wr.opcode = opcode;
	wr.send_flags = IBV_SEND_SIGNALED | (sge->length <= 128 ? IBV_SEND_INLINE : 0);
	if (opcode == IBV_WR_RDMA_WRITE) {
		wr.wr.rdma.remote_addr = addresses[rank].put_addr + (uint64_t)job.rank * PUT_SIZE;
		wr.wr.rdma.rkey = addresses[rank].put_rkey;
	}
	wr.xrc_remote_srq_num = addresses[rank].srqn;
	must_be_0(ibv_post_send(cm_path(rank)->qp_hndl, &wr, &bad), "ibv_post_send");
	slots_take(&slots, slot);
}

static void eager_send(uint32_t rank, unsigned slot)
{
	uint32_t length = sent_to[rank] % 3 ? BUFFER_SIZE : 64;
	struct ibv_sge sge = { (uintptr_t)memory.send[slot], length, mr->lkey };

	job_fill(memory.send[slot], length, (int)rank, sent_to[rank]++);
	post_send(rank, slot, &sge, IBV_WR_SEND);
}

/* Rendezvous: RDMA on the same QP; the last message comes after it. */
static void put(uint32_t rank, unsigned slot)
{
	struct ibv_sge sge = { (uintptr_t)memory.put_from[rank], PUT_SIZE, mr->lkey };

	job_fill(memory.put_from[rank], PUT_SIZE, (int)rank, MESSAGES);
	post_send(rank, slot, &sge, IBV_WR_RDMA_WRITE);
}

static void take_received(const struct ibv_wc *wc)
{
	struct pool *pool = &pools[wc->wr_id >> 16];
	unsigned slot = (unsigned)(wc->wr_id & 0xffff);
	int from = job_verify_next(memory.receive[pool - pools][slot], wc->byte_len, received_from);

	if (received_from[from] == MESSAGES) {
		job_verify_rdma(from, memory.put_to[from], PUT_SIZE);
		puts_seen++;
	}
	pthread_mutex_lock(&pool->lock);
	pool->free[pool->free_count++] = slot;
	/*
	 * Normally the event thread posts. If fewer than LIMIT receives were left when it armed the
	 * limit, no event comes, so this thread posts.
	 */
	if (pool->free_count > BUFFERS - LIMIT / 2)
		post_free(pool);
	pthread_mutex_unlock(&pool->lock);
}

/* @connecting: also handles connection messages, and so does not wait for the CQ alone. */
static void progress(int connecting)
{
	struct ibv_wc wc;
	int completed = hca_poll_cq(viadev.cq_hndl, &wc);

	if (connecting)
		cm_poll();
	if (completed && wc.opcode & IBV_WC_RECV)
		take_received(&wc);
	else if (completed)
		slots_give(&slots, (unsigned)wc.wr_id);
	else if (channel && !connecting)
		hca_wait_for_event(channel);
	else
		job_idle();
}

static void progress_connecting(void)
{
	progress(1);
}

static void connect_all(void)
{
	int turn;

	for (turn = 0; turn < (viadev.private_domain ? job.local_size : 1); turn++)
		cm_request((uint32_t)job_peer(turn));
	while (!cm_all_ready())
		progress_connecting();
	job_barrier_with(progress_connecting);
}

static void progress_data(void)
{
	progress(0);
}

static unsigned free_slot(void)
{
	return slots_wait(&slots, progress_data);
}

static int all_done(void)
{
	return job_heard_all(received_from, MESSAGES) && !slots.in_flight &&
	       puts_seen == (unsigned)job.local_size;
}

static void exchange(void)
{
	unsigned i;
	int turn;

	for (i = 0; i < MESSAGES; i++)
		for (turn = 0; turn < job.local_size; turn++) {
			if (i == MESSAGES - 1)
				put((uint32_t)job_peer(turn), free_slot());
			eager_send((uint32_t)job_peer(turn), free_slot());
		}
	while (!all_done())
		progress(0);
	while (!__atomic_load_n(&pools[srqs - 1].limit_events, __ATOMIC_ACQUIRE))
		job_idle();
}

/* ---- End: MVAPICH aborts on any error, although others still have the domain open ---- */

static void destroy_srqs(void)
{
	int i;

	for (i = 0; i < srqs; i++) {
		pthread_mutex_lock(&pools[i].lock);
		pools[i].closing = 1;
		pthread_mutex_unlock(&pools[i].lock);
		must_be_0(ibv_destroy_srq(pools[i].srq_hndl), "ibv_destroy_srq");
	}
}

static void close_domain(void)
{
	must_be_0(ibv_close_xrc_domain(viadev.xrc_domain), "ibv_close_xrc_domain");
	if (domain_fd >= 0)
		must_be_0(close(domain_fd), "close");
}

static void finish_gen2(void)
{
	cm_destroy_qps();
	job_cancel_thread(async_thread);
	destroy_srqs();
	must_be_0(ibv_destroy_cq(viadev.cq_hndl), "ibv_destroy_cq");
	close_domain();
	if (unlink(domain_file) && errno != ENOENT)
		job_die("unlink: %s", strerror(errno));
}

static void finish_hybrid(void)
{
	destroy_srqs();
	cm_destroy_qps();
	close_domain();
	job_cancel_thread(async_thread);
	must_be_0(ibv_destroy_cq(viadev.cq_hndl), "ibv_destroy_cq");
}

static int finish(void)
{
	job_barrier(JOB_WORLD);
	must_be_0(ibv_dereg_mr(mr), "ibv_dereg_mr");
	if (viadev.hybrid)
		finish_hybrid();
	else
		finish_gen2();
	must_be_0(ibv_dealloc_pd(viadev.pd), "ibv_dealloc_pd");
	if (channel)
		must_be_0(ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	must_be_0(ibv_close_device(viadev.context), "ibv_close_device");
	return 0;
}

static int rank_main(void)
{
	srqs = viadev.hybrid ? SRQS_MAX : 1;
	start();
	connect_all();
	exchange();
	return finish();
}

int main(int argc, char **argv)
{
	static const char *const flags[] = { "--poll", "--event", "--hybrid", "--private", NULL };

	job_options(argc, argv, flags);
	blocking = job_option(argc, argv, "--event");
	viadev.private_domain = job_option(argc, argv, "--private");
	viadev.hybrid = viadev.private_domain || job_option(argc, argv, "--hybrid");
	return job_run(viadev.private_domain ? "mvapich --private"
		       : viadev.hybrid	     ? "mvapich --hybrid"
					     : "mvapich",
		       2, rank_main);
}
