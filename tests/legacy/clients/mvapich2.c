/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What MVAPICH2 does with MV2_USE_XRC. Every rank unlinks the domain's file while it is in use;
 * there is one SRQ, and one sending QP for each remote host; the shutdown tries to destroy the CQ
 * before the SRQ. Built twice: linked with libibverbs, and, as 2.3.5 and later, not linked: it
 * opens libibverbs and looks up each verb by name, without a version.
 */

#ifdef IBV_DLOPEN
/* MVAPICH2 looks them up in this order. It never calls query_xrc_rcv_qp. */
#define VERBS(X) \
	X(get_device_list) X(free_device_list) X(open_device) X(close_device) X(query_device) \
	X(query_port) X(alloc_pd) X(dealloc_pd) X(reg_mr) X(dereg_mr) X(create_comp_channel) \
	X(destroy_comp_channel) X(create_cq) X(destroy_cq) X(get_cq_event) X(ack_cq_events) \
	X(create_srq) X(modify_srq) X(destroy_srq) X(create_qp) X(modify_qp) X(query_qp) \
	X(destroy_qp) X(get_async_event) X(ack_async_event) X(event_type_str) X(wc_status_str) \
	X(open_xrc_domain) X(close_xrc_domain) X(create_xrc_srq) X(create_xrc_rcv_qp) \
	X(modify_xrc_rcv_qp) X(query_xrc_rcv_qp) X(reg_xrc_rcv_qp) X(unreg_xrc_rcv_qp)
#endif

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "client.h"

#define BUFFERS 128

/* The connection to a rank. Ranks of one host share the sending QP. */
static struct vc {
	enum {
		VC_NEW,
		VC_REQUESTED,
		VC_CONNECTED
	} state;
	/* the receive QP for its messages to us: we created it or registered with it */
	uint32_t xrc_my_rqpn;
	uint32_t remote_srqn;
} vcs[JOB_RANKS_MAX];

/* A remote host. We have asked one of its ranks for a connection if sqp is set. */
static struct xrc_host {
	struct ibv_qp *sqp;
	uint32_t rqpn;		/* the receive QP that the remote host created for sqp */
} hosts[JOB_HOSTS];

enum cm_type {
	CM_MSG_TYPE_REQ = 1,
	CM_MSG_TYPE_REP,
	CM_MSG_TYPE_XRC_REQ,
	CM_MSG_TYPE_XRC_REP
};

struct cm_msg {
	uint32_t type, lid, qpn, srqn;
};

static struct ibv_srq *srq_hndl;
static uint32_t srqn;
static pthread_t cm_thread;

/* ---- Start ---- */

#ifdef IBV_DLOPEN
/* Tries the development name first, which exists only with development files. */
static void *open_library(void)
{
	const char *path = getenv("MV2_LIBIBVERBS_PATH");
	void *library = dlopen("libibverbs.so", RTLD_NOW);

	if (!library && path)
		library = dlopen(path, RTLD_NOW);
	if (!library)
		library = dlopen("libibverbs.so.1", RTLD_NOW);
	if (!library)
		job_die("%s", dlerror());
	return library;
}

/* MVAPICH2 goes on with the NULL pointer, and crashes when it calls that. */
static void *look_up(void *library, const char *name)
{
	void *verb = dlsym(library, name);

	if (!verb)
		job_die("Error opening %s. Falling back.", name);
	return verb;
}

static void open_verbs(void)
{
	void *library = open_library();

#define X(name) verbs.name = (__typeof__(verbs.name))look_up(library, "ibv_" #name);
	VERBS(X)
#undef X
}
#else
static void open_verbs(void)
{
}
#endif

/* A build with XRC also reads the number of ordinary SRQs, and does not use it. */
static void read_plain_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_srq *plain = MAKE(create_srq, hca.pd, &attr);

	srqn = *(volatile uint32_t *)&plain->xrc_srq_num;
	DO(destroy_srq, plain);
}

/* Clears the flag, and sets it again for the ack. */
static void take_event(struct ibv_async_event *event)
{
	enum ibv_event_type flag = event->event_type & (unsigned int)IBV_XRC_QP_EVENT_FLAG;

	event->event_type ^= flag;
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_DEVICE_FATAL:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		job_die("got %sevent %d (%s)", flag ? "XRC " : "", event->event_type,
			VERB(event_type_str)(event->event_type));
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		pool_at_limit(event->element.srq);
		break;
	default:
		break;
	}
	event->event_type |= flag;
}

/* ---- Connections: the connection thread handles each message ---- */

static struct xrc_host *host_of(int rank)
{
	return &hosts[rank / job.local_size];
}

static int state_of(const struct vc *vc)
{
	return (int)__atomic_load_n(&vc->state, __ATOMIC_ACQUIRE);
}

static void cm_send(int to, enum cm_type type, uint32_t qpn)
{
	struct cm_msg msg = { type, hca.lid, qpn, srqn };

	job_send(to, &msg, sizeof(msg));
}

/* Called by the main thread; the connection thread handles the answer. */
static void request(int rank)
{
	struct xrc_host *host = host_of(rank);
	int is_first = !host->sqp;

	if (is_first) {
		host->sqp = hca_create_qp(hca_qp_attr(128));
		hca_to_init(host->sqp);
	}
	__atomic_store_n(&vcs[rank].state, VC_REQUESTED, __ATOMIC_RELEASE);
	if (is_first)
		cm_send(rank, CM_MSG_TYPE_REQ, host->sqp->qp_num);
	else
		cm_send(rank, CM_MSG_TYPE_XRC_REQ, host->rqpn);
}

static void cm_connect(int rank)
{
	if (state_of(&vcs[rank]) == VC_NEW)
		request(rank);
	while (state_of(&vcs[rank]) != VC_CONNECTED)
		job_idle();
}

static void cm_handle_reply(int from, const struct cm_msg *msg)
{
	struct xrc_host *host = host_of(from);

	if (state_of(&vcs[from]) != VC_REQUESTED)
		job_die("an answer without a request from rank %d", from);
	if (msg->type == CM_MSG_TYPE_REP) {
		host->rqpn = msg->qpn;
		hca_to_rtr(host->sqp, msg->qpn, msg->lid, 0);
		hca_to_rts(host->sqp, 20, 0);
	}
	vcs[from].remote_srqn = msg->srqn;
	__atomic_store_n(&vcs[from].state, VC_CONNECTED, __ATOMIC_RELEASE);
}

/* The first rank contacted creates the receive QP; the others register with it. */
static void cm_handle_request(int from, const struct cm_msg *msg)
{
	uint32_t *rqpn = &vcs[from].xrc_my_rqpn;

	if (msg->type == CM_MSG_TYPE_REQ) {
		*rqpn = hca_create_rcv_qp(msg->qpn, msg->lid, 0);
		cm_send(from, CM_MSG_TYPE_REP, *rqpn);
		return;
	}
	if (!*rqpn && VERB(reg_xrc_rcv_qp)(hca.xrc_domain, msg->qpn))
		job_die("ibv_reg_xrc_rcv_qp: %s", strerror(errno));
	*rqpn = msg->qpn;
	cm_send(from, CM_MSG_TYPE_XRC_REP, msg->qpn);
}

static void *cm_main(void *arg)
{
	struct cm_msg msg;
	int from;

	for (;;) {
		from = job_receive(&msg, sizeof(msg), 1);
		if (msg.type == CM_MSG_TYPE_REQ || msg.type == CM_MSG_TYPE_XRC_REQ)
			cm_handle_request(from, &msg);
		else
			cm_handle_reply(from, &msg);
	}
	return arg;
}

/* ---- Data ---- */

static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	(void)queue;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (wr->opcode == IBV_WR_SEND && wr->sg_list->length <= 128)
		wr->send_flags |= IBV_SEND_INLINE;
	wr->xrc_remote_srq_num = vcs[rank].remote_srqn;
	return host_of(rank)->sqp;
}

static const struct data data = {
	.messages = 60, .queues = 1, .size = 2048, .short_size = 64,
	.ready = cm_connect, .prepare = prepare, .progress = data_progress,
};

static void start(void)
{
	char file[128];

	open_verbs();
	hca_open();
	hca.path_port = 0;	/* MVAPICH2 1.7 sets it nowhere. */
	hca.cq = hca_create_cq(1024, hca.channel);
	snprintf(file, sizeof(file), "mv2_xrc_kvs_%c_%u-0", 'A' + job.host,
		 (unsigned)getuid());
	hca_open_domain(file, O_RDWR | O_CREAT);
	read_plain_srq();
	srq_hndl = hca_create_srq(hca.cq, BUFFERS, 30);
	srqn = srq_hndl->xrc_srq_num;
	hca_start_events(take_event);
	hca_reg_mr(&data_memory, sizeof(data_memory));
	data_start(&data);
	pool_start(pools, srq_hndl, BUFFERS, BUFFERS, BUFFERS);
	hca_arm(hca.cq);
	hca_arm_limit(srq_hndl, 30);
	must_be_0(pthread_create(&cm_thread, NULL, cm_main, NULL), "pthread_create");
	/* No rank needs the name any more. Every rank unlinks it, and one of them succeeds. */
	job_barrier();
	if (unlink(file) && errno != ENOENT)
		job_die("unlink: %s", strerror(errno));
}

/* ---- End ---- */

/*
 * MVAPICH2 unregisters from QPs that it created and from those it registered with alike. It treats
 * any error as fatal.
 */
static void cm_finalize(void)
{
	int i;

	job_cancel_thread(cm_thread);
	for (i = 0; i < job.size; i++)
		if (vcs[i].xrc_my_rqpn)
			DO(unreg_xrc_rcv_qp, hca.xrc_domain, vcs[i].xrc_my_rqpn);
	for (i = 0; i < JOB_HOSTS; i++)
		if (hosts[i].sqp)
			DO(destroy_qp, hosts[i].sqp);
}

/* Leaks the CQ, and therefore the channel. */
static int rank_main(void)
{
	int err;

	start();
	data_exchange();
	job_barrier();
	cm_finalize();
	err = VERB(destroy_cq)(hca.cq);
	if (err != EBUSY)
		job_die("ibv_destroy_cq with the SRQ still on it returned %d", err);
	job_cancel_thread(hca.event_thread);
	DO(destroy_srq, srq_hndl);
	hca_close_domain();
	hca_close();
	return 0;
}

int main(int argc, char **argv)
{
	return client_main(argc, argv, 2, rank_main);
}
