/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What MVAPICH 1.x does with VIADEV_USE_XRC (ch_gen2). It has no receive QPs: both sides create one
 * XRC QP for each peer host, and both send on it to the SRQs of all processes of the other host.
 *
 * --hybrid: as ch_hybrid, with several SRQs that all receive, a query with mask 0, and SRQs that
 * are destroyed before QPs.
 * --private: as its !xrcshared, with a domain of fd -1, and so one QP for each peer process.
 */

#include <stdio.h>

#include "client.h"

#define BUFFERS 48		/* receive buffers of an SRQ */
#define LIMIT 12

/* A path leads to one host, or, with a private domain, to one process. */
static struct path {
	struct ibv_qp *qp_hndl;
	enum {
		PATH_NONE,
		PATH_REQUESTED,
		PATH_RTR,
		PATH_READY
	} phase;
	int partner;		/* the rank that holds the other end */
} paths[JOB_RANKS_MAX];

enum cm_type {
	CM_REQ = 1,
	CM_REP,
	CM_CONFIRM
};

struct cm_msg {
	uint32_t type, lid, qpn;
};

static uint32_t srqn[DATA_QUEUES][JOB_RANKS_MAX];
static int hybrid, private_domain;
static char domain_file[128];

/* ---- Start ---- */

static void open_domain(void)
{
	snprintf(domain_file, sizeof(domain_file), "mvapich-xrc-4711-%c-%u-0.tmp",
		 'A' + job.host, (unsigned)getuid());
	if (private_domain)
		hca.xrc_domain = MAKE(open_xrc_domain, hca.context, -1, O_CREAT);
	else
		hca_open_domain(domain_file, O_RDWR | O_CREAT);
}

static void limit_reached(const struct ibv_srq *srq)
{
	struct pool *pool = pool_at_limit(srq);

	/* ch_hybrid destroys SRQs while this thread still runs. */
	pthread_mutex_lock(&pool->lock);
	if (pool->wanted) {
		pool_post(pool);
		hca_arm_limit(pool->srq, LIMIT);
	}
	pthread_mutex_unlock(&pool->lock);
}

static int has_qp(const struct ibv_qp *qp)
{
	int i;

	for (i = 0; i < job.size && paths[i].qp_hndl != qp; i++)
		;
	return i < job.size;
}

/*
 * MVAPICH does not test the XRC flag: it has no receive QPs, so every QP event is for a QP that it
 * created.
 */
static void take_event(struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_COMM_EST:
		if (!has_qp(event->element.qp))
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

/* ---- Connections: one XRC QP for each peer host, made on both sides ---- */

/* In a shared domain one QP reaches all ranks of a host. Any of them may have the other end. */
static struct path *path_to(int rank)
{
	return private_domain ? &paths[rank] : &paths[rank / job.local_size];
}

/* ch_hybrid asks right after the creation, with a mask of 0, and takes what init_attr says. */
static void ask_inline_size(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	DO(query_qp, qp, &attr, 0, &init_attr);
	if (init_attr.cap.max_inline_data > 1 << 16 || init_attr.cap.max_send_wr < SENDS)
		job_die("ibv_query_qp with mask 0 gives max_inline_data %u, max_send_wr %u",
			init_attr.cap.max_inline_data, init_attr.cap.max_send_wr);
}

/* ch_gen2 uses the attributes of RC, with a receive queue that means nothing for an XRC QP. */
static void create_qp(struct path *path)
{
	struct ibv_qp_init_attr attr = hca_qp_attr(128);

	attr.cap.max_recv_wr = hybrid ? 0 : 200;
	path->qp_hndl = hca_create_qp(attr);
	if (hybrid)
		ask_inline_size(path->qp_hndl);
	hca_to_init(path->qp_hndl);
}

static void to_rtr(struct path *path, const struct cm_msg *peer)
{
	hca_to_rtr(path->qp_hndl, peer->qpn, peer->lid, 0);
	path->phase = PATH_RTR;
}

static void to_rts(struct path *path)
{
	hca_to_rts(path->qp_hndl, 10, 0);
	path->phase = PATH_READY;
}

static void cm_send(enum cm_type type, const struct path *path)
{
	struct cm_msg msg = { type, hca.lid, path->qp_hndl->qp_num };

	job_send(path->partner, &msg, sizeof(msg));
}

static void cm_request(int rank)
{
	struct path *path = path_to(rank);

	if (path->phase != PATH_NONE)
		return;
	path->partner = rank;
	create_qp(path);
	path->phase = PATH_REQUESTED;
	cm_send(CM_REQ, path);
}

static void cm_accept(struct path *path, int from, const struct cm_msg *msg)
{
	/*
	 * Both hosts asked at once. The lower rank's request counts, and the QP that was created
	 * for the other request serves it.
	 */
	if (path->phase == PATH_REQUESTED && job.rank < from)
		return;
	if (path->phase == PATH_NONE)
		create_qp(path);
	path->partner = from;
	to_rtr(path, msg);
	cm_send(CM_REP, path);
}

static void cm_poll(void)
{
	struct cm_msg msg;
	int from = job_receive(&msg, sizeof(msg), 0);
	struct path *path = from < 0 ? NULL : path_to(from);

	if (!path)
		return;
	if (msg.type == CM_REQ)
		cm_accept(path, from, &msg);
	if (msg.type == CM_REP)
		to_rtr(path, &msg);
	if (msg.type != CM_REQ)
		to_rts(path);
	if (msg.type == CM_REP)
		cm_send(CM_CONFIRM, path);
}

static int all_ready(void)
{
	int i;

	for (i = 0; i < job.size; i++)
		if (paths[i].phase != PATH_NONE && paths[i].phase != PATH_READY)
			return 0;
	return 1;
}

/* ---- Data ---- */

static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	wr->send_flags = IBV_SEND_SIGNALED | (wr->sg_list->length <= 128 ? IBV_SEND_INLINE : 0);
	wr->xrc_remote_srq_num = srqn[queue][rank];
	return path_to(rank)->qp_hndl;
}

/* Also handles connection messages, and so does not wait for the CQ alone. */
static void progress_connecting(void)
{
	cm_poll();
	if (!data_poll(hca.cq))
		job_idle();
}

static struct data data = {
	.messages = 60, .size = 2048, .short_size = 64,
	.prepare = prepare, .progress = data_progress,
};

static void connect_all(void)
{
	int turn;

	for (turn = 0; turn < (private_domain ? job.local_size : 1); turn++)
		cm_request(job_peer(turn));
	while (!all_ready())
		progress_connecting();
	job_barrier_with(progress_connecting);
}

static void start(void)
{
	struct ibv_srq *srq;
	unsigned i;

	hca_open();
	hca.cq = hca_create_cq(1024, hca.channel);
	open_domain();
	hca_reg_mr(&data_memory, sizeof(data_memory));
	data.queues = hybrid ? DATA_QUEUES : 1;
	data_start(&data);
	for (i = 0; i < data.queues; i++) {
		srq = hca_create_srq(hca.cq, BUFFERS, hybrid ? 20 : 30);
		/*
		 * Normally the event thread posts. If fewer than LIMIT receives were left when it
		 * armed the limit, no event comes, so the other thread posts.
		 */
		pool_start(&pools[i], srq, BUFFERS, BUFFERS, LIMIT / 2 - 1);
		hca_arm_limit(srq, LIMIT);
		/* MVAPICH reads the number at its place in struct ibv_srq. */
		job_gather(&srq->xrc_srq_num, sizeof(srq->xrc_srq_num), srqn[i]);
	}
	hca_start_events(take_event);
	hca_arm(hca.cq);
}

/* ---- End: MVAPICH aborts on any error, although others still have the domain open ---- */

static void destroy_qps(void)
{
	int i;

	for (i = 0; i < job.size; i++)
		if (paths[i].qp_hndl)
			DO(destroy_qp, paths[i].qp_hndl);
}

static void destroy_srqs(void)
{
	unsigned i;

	for (i = 0; i < data.queues; i++) {
		pthread_mutex_lock(&pools[i].lock);
		pools[i].wanted = 0;
		pthread_mutex_unlock(&pools[i].lock);
		DO(destroy_srq, pools[i].srq);
	}
}

static void finish_gen2(void)
{
	destroy_qps();
	job_cancel_thread(hca.event_thread);
	destroy_srqs();
	DO(destroy_cq, hca.cq);
	hca_close_domain();
	if (unlink(domain_file) && errno != ENOENT)
		job_die("unlink: %s", strerror(errno));
}

static void finish_hybrid(void)
{
	destroy_srqs();
	destroy_qps();
	hca_close_domain();
	job_cancel_thread(hca.event_thread);
	DO(destroy_cq, hca.cq);
}

static int rank_main(void)
{
	start();
	connect_all();
	data_exchange();
	pool_await_limits();
	job_barrier();
	if (hybrid)
		finish_hybrid();
	else
		finish_gen2();
	hca_close_channel();
	hca_close();
	return 0;
}

int main(int argc, char **argv)
{
	private_domain = job_option(argc, argv, "--private");
	hybrid = private_domain || job_option(argc, argv, "--hybrid");
	return client_main(argc, argv, 2, rank_main);
}
