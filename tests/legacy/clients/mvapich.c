/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What MVAPICH 1.x does with VIADEV_USE_XRC (ch_gen2). It has no receive QPs: both sides create one
 * XRC QP for each peer host, and both send on it to the SRQs of all processes of the other host.
 *
 * --hybrid: as ch_hybrid, with several SRQs that all receive, a query with mask 0, and SRQs that
 * are destroyed before QPs.
 * --private: as its !xrcshared, with a domain of fd -1, and so one QP for each peer process.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mvapich.h"

#define BUFFERS 48		/* receive buffers of an SRQ */
#define LIMIT 12
#define SRQS_MAX 2

/* An SRQ and its buffers. */
struct pool {
	struct ibv_srq *srq_hndl;
	unsigned free[BUFFERS], free_count;	/* received and read: to be posted again */
	unsigned limit_events;
	int closing;
	pthread_mutex_t lock;
};

struct viadev viadev;

static struct pool pools[SRQS_MAX];
static uint32_t srqn[SRQS_MAX][JOB_RANKS_MAX];
static struct ibv_comp_channel *channel;
static struct ibv_mr *mr;
static pthread_t async_thread;
static int blocking, srqs, domain_fd = -1;
static char domain_file[128];

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
	while (pool->free_count)
		data_post_recv(pool->srq_hndl, (unsigned)(pool - pools),
			       pool->free[--pool->free_count]);
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

/* ---- Data ---- */

static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	wr->send_flags = IBV_SEND_SIGNALED | (wr->sg_list->length <= 128 ? IBV_SEND_INLINE : 0);
	wr->xrc_remote_srq_num = srqn[queue][rank];
	return cm_path((uint32_t)rank)->qp_hndl;
}

static void take_buffer(unsigned queue, unsigned slot)
{
	struct pool *pool = &pools[queue];

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

/* Also handles connection messages, and so does not wait for the CQ alone. */
static void progress_connecting(void)
{
	cm_poll();
	if (!data_poll(viadev.cq_hndl))
		job_idle();
}

static void progress(void)
{
	data_progress(viadev.cq_hndl, channel);
}

static struct data data = {
	.messages = 60, .size = 2048, .short_size = 64,
	.prepare = prepare, .take_buffer = take_buffer, .progress = progress,
};

static void connect_all(void)
{
	int turn;

	for (turn = 0; turn < (viadev.private_domain ? job.local_size : 1); turn++)
		cm_request((uint32_t)job_peer(turn));
	while (!cm_all_ready())
		progress_connecting();
	job_barrier_with(progress_connecting);
}

static void start(void)
{
	int i;

	open_hca();
	open_domain();
	mr = must(ibv_reg_mr(viadev.pd, &data_memory, sizeof(data_memory),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
		  "ibv_reg_mr");
	data.queues = (unsigned)srqs;
	data_start(&data, mr->lkey, mr->rkey);
	for (i = 0; i < srqs; i++) {
		const struct ibv_srq *srq;

		start_pool(&pools[i]);
		srq = pools[i].srq_hndl;
		/* MVAPICH sends the number from where it is in the SRQ. */
		job_gather(JOB_WORLD, &srq->xrc_srq_num, sizeof(srq->xrc_srq_num), srqn[i]);
	}
	must_be_0(pthread_create(&async_thread, NULL, async_main, viadev.context),
		  "pthread_create");
	if (channel)
		must_be_0(ibv_req_notify_cq(viadev.cq_hndl, 0), "ibv_req_notify_cq");
}

static void exchange(void)
{
	int i;

	data_exchange();
	for (i = 0; i < srqs; i++)
		while (!__atomic_load_n(&pools[i].limit_events, __ATOMIC_ACQUIRE))
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
