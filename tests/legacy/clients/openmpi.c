/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the openib BTL of Open MPI 1.4 does with X queues: it opens the domain's file read-only, has
 * several SRQs on two CQs, stops with receive QPs at RTR, posts more receives when an SRQ reaches
 * its limit, and shuts down endpoint by endpoint.
 */

#include <poll.h>
#include <stdio.h>

#include "client.h"

#define MESSAGES 40		/* to each process of the other host, on each queue */
#define QUEUES DATA_QUEUES	/* receive_queues X,...:X,... */
#define RD_NUM 64		/* receive buffers of a queue */
#define RD_INIT 16		/* posted at first; more after each limit event */
#define RD_LOW 2
#define SRQ_LIMIT 8
#define MAX_INLINE 128

/* The remote port, which all endpoints of a host share. */
static struct ib_addr {
	enum {
		IB_ADDR_CLOSED,
		IB_ADDR_CONNECTING,
		IB_ADDR_CONNECTED
	} status;
	struct ibv_qp *qp;
	uint32_t psn, remote_xrc_rcv_qp_num;
} ib_addrs[JOB_HOSTS];

static struct endpoint {
	enum { ENDPOINT_CLOSED, ENDPOINT_WAITING, ENDPOINT_CONNECTED } state;
	uint32_t rem_srqs[QUEUES];
	/* where it sends to us: created or registered here; 0 for none */
	uint32_t xrc_recv_qp_num;
} endpoints[JOB_RANKS_MAX];

enum xoob_type {
	CONNECT_REQUEST = 1,
	CONNECT_RESPONSE,
	CONNECT_XRC_REQUEST,
	CONNECT_XRC_RESPONSE,
	CONNECT_XRC_NR_RESPONSE
};

struct xoob_msg {
	uint32_t type, lid, qpn, psn, srqs[QUEUES];
};

static struct ibv_cq *cq[QUEUES];	/* high priority; low priority, and of the sends */
static unsigned xoob_gone;	/* how often the other side answered that it has no receive QP */
static pthread_t async_thread;
static int stop_pipe[2];

/* ---- Events: a thread polls the async fd, which it makes non-blocking ---- */

/* Posts more receives, and sets the limit again until all are posted. */
static void srq_limit_event(struct ibv_srq *srq)
{
	struct pool *queue = pool_at_limit(srq);
	int again;

	pthread_mutex_lock(&queue->lock);
	queue->wanted = queue->wanted * 2 > RD_NUM ? RD_NUM : queue->wanted * 2;
	again = queue->wanted < RD_NUM;
	pool_post(queue);
	pthread_mutex_unlock(&queue->lock);
	if (again)
		hca_arm_limit(srq, SRQ_LIMIT);
}

/* Clears the flag in a copy of the type, so that the ack gets the event as it came. */
static void take_event(struct ibv_async_event *event)
{
	int xrc_event = (event->event_type & (unsigned int)IBV_XRC_QP_EVENT_FLAG) != 0;
	int event_type = (int)(event->event_type & ~(unsigned int)IBV_XRC_QP_EVENT_FLAG);

	switch (event_type) {
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		srq_limit_event(event->element.srq);
		break;
	case IBV_EVENT_COMM_EST:
		if (!xrc_event)
			job_die("COMM_EST of a QP that only sends");
		if (event->element.xrc_qp_num > 0xffffff)
			job_die("COMM_EST of receive QP 0x%x", event->element.xrc_qp_num);
		break;
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
		break;
	default:
		job_die("got %sevent 0x%x", xrc_event ? "XRC " : "", event_type);
	}
	ibv_ack_async_event(event);
}

/* Reads events until EWOULDBLOCK. */
static void take_events(void)
{
	struct ibv_async_event event;

	while (ibv_get_async_event(hca.context, &event) >= 0)
		take_event(&event);
	if (errno != EWOULDBLOCK)
		job_die("ibv_get_async_event: %s", strerror(errno));
}

static void *async_main(void *arg)
{
	int fd = hca.context->async_fd;
	struct pollfd polls[2] = { { .fd = stop_pipe[0] }, { .fd = fd, .events = POLLIN } };

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	while (poll(polls, 2, -1) >= 0 && !polls[0].revents)
		take_events();
	return arg;
}

static void async_stop(void)
{
	close(stop_pipe[1]);
	must_be_0(pthread_join(async_thread, NULL), "pthread_join");
}

/*
 * ---- The xoob CPC. One sending QP for each remote port; the first process contacted there creates
 * the receive QP, the others register with it. ----
 */

static struct ib_addr *addr_of(int rank)
{
	return &ib_addrs[rank / job.local_size];
}

/* Open MPI copies each number from its place in struct ibv_srq. */
static void xoob_send(int rank, enum xoob_type type, uint32_t qpn, uint32_t psn)
{
	struct xoob_msg msg = { .type = type, .lid = hca.lid, .qpn = qpn, .psn = psn };
	int i;

	for (i = 0; i < QUEUES; i++)
		memcpy(&msg.srqs[i], &pools[i].srq->xrc_srq_num, sizeof(msg.srqs[i]));
	job_send(rank, &msg, sizeof(msg));
}

static void xoob_start_connect(int rank)
{
	struct ib_addr *addr = addr_of(rank);

	endpoints[rank].state = ENDPOINT_WAITING;
	switch (addr->status) {
	case IB_ADDR_CLOSED:
		addr->qp = hca_create_qp(hca_qp_attr(MAX_INLINE));
		hca_to_init(addr->qp);
		addr->psn = addr->qp->qp_num * 5 & 0xffffff;
		addr->status = IB_ADDR_CONNECTING;
		xoob_send(rank, CONNECT_REQUEST, addr->qp->qp_num, addr->psn);
		break;
	/* Another endpoint of that host has asked. Its answer serves this endpoint, too. */
	case IB_ADDR_CONNECTING:
		break;
	case IB_ADDR_CONNECTED:
		xoob_send(rank, CONNECT_XRC_REQUEST, addr->remote_xrc_rcv_qp_num, 0);
		break;
	}
}

static void endpoint_connected(int rank, const struct xoob_msg *msg)
{
	memcpy(endpoints[rank].rem_srqs, msg->srqs, sizeof(msg->srqs));
	endpoints[rank].state = ENDPOINT_CONNECTED;
}

static void on_response(int rank, const struct xoob_msg *msg)
{
	struct ib_addr *addr = addr_of(rank);
	int other;

	hca_to_rtr(addr->qp, msg->qpn, msg->lid, msg->psn);
	hca_to_rts(addr->qp, 20, addr->psn);
	addr->status = IB_ADDR_CONNECTED;
	addr->remote_xrc_rcv_qp_num = msg->qpn;
	endpoint_connected(rank, msg);
	for (other = 0; other < job.size; other++)
		if (addr_of(other) == addr && endpoints[other].state == ENDPOINT_WAITING)
			xoob_send(other, CONNECT_XRC_REQUEST, addr->remote_xrc_rcv_qp_num, 0);
}

/* "No receive QP": the receive QP at the other end does not exist any more. Connects anew. */
static void on_nr_response(int rank, const struct xoob_msg *msg)
{
	struct ib_addr *addr = addr_of(rank);

	(void)msg;
	xoob_gone++;
	DO(destroy_qp, addr->qp);
	addr->qp = NULL;
	addr->status = IB_ADDR_CLOSED;
	xoob_start_connect(rank);
}

/*
 * Automatic path migration: takes the path from a query with mask 0. Another process may have set
 * it already, so the result of the modify is ignored.
 */
static void load_apm(uint32_t qpn, const struct xoob_msg *peer)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	memset(&init, 0, sizeof(init));
	DO(query_xrc_rcv_qp, hca.xrc_domain, qpn, &attr, 0, &init);
	if (attr.ah_attr.dlid != peer->lid || attr.port_num != 1 || attr.pkey_index)
		job_die("ibv_query_xrc_rcv_qp with mask 0 gives LID %u, port %u, pkey index %u",
			attr.ah_attr.dlid, attr.port_num, attr.pkey_index);
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_ah_attr.src_path_bits++;
	attr.alt_port_num = attr.port_num;
	attr.alt_pkey_index = attr.pkey_index;
	attr.alt_timeout = attr.timeout;
	attr.path_mig_state = IBV_MIG_REARM;
	ibv_modify_xrc_rcv_qp(hca.xrc_domain, qpn, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE);
}

static void recv_qp_create(int rank, const struct xoob_msg *msg)
{
	uint32_t qpn = hca_create_rcv_qp(msg->qpn, msg->lid, msg->psn);

	endpoints[rank].xrc_recv_qp_num = qpn;
	load_apm(qpn, msg);
	xoob_send(rank, CONNECT_RESPONSE, qpn, msg->psn);
}

static void recv_qp_connect(int rank, const struct xoob_msg *msg)
{
	int ret = ibv_reg_xrc_rcv_qp(hca.xrc_domain, msg->qpn);

	if (ret) {
		if (ret != EINVAL)
			job_die("ibv_reg_xrc_rcv_qp of a destroyed receive QP: %d", ret);
		xoob_send(rank, CONNECT_XRC_NR_RESPONSE, 0, 0);
		return;
	}
	endpoints[rank].xrc_recv_qp_num = msg->qpn;
	xoob_send(rank, CONNECT_XRC_RESPONSE, msg->qpn, 0);
}

static void xoob_progress(void)
{
	static void (*const handlers[])(int rank, const struct xoob_msg *msg) = {
		[CONNECT_REQUEST] = recv_qp_create,
		[CONNECT_RESPONSE] = on_response,
		[CONNECT_XRC_REQUEST] = recv_qp_connect,
		[CONNECT_XRC_RESPONSE] = endpoint_connected,
		[CONNECT_XRC_NR_RESPONSE] = on_nr_response,
	};
	struct xoob_msg msg;
	int from = job_receive(&msg, sizeof(msg), 0);

	if (from >= 0)
		handlers[msg.type](from, &msg);
}

/*
 * Once for each endpoint, whether it created the QP or registered with it. Open MPI only logs a
 * failure; this program is stricter.
 */
static void drop_recv_qp(int rank)
{
	if (!endpoints[rank].xrc_recv_qp_num)
		return;
	DO(unreg_xrc_rcv_qp, hca.xrc_domain, endpoints[rank].xrc_recv_qp_num);
	endpoints[rank].xrc_recv_qp_num = 0;
}

/* ---- Data ---- */

/*
 * Messages alternate between the queues, and between those with immediate data and those without.
 */
static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	wr->send_flags = IBV_SEND_SIGNALED;
	if (wr->sg_list->length <= MAX_INLINE)
		wr->send_flags |= IBV_SEND_INLINE;
	if (wr->opcode == IBV_WR_SEND && wr->imm_data & 2)
		wr->opcode = IBV_WR_SEND_WITH_IMM;
	wr->xrc_remote_srq_num = endpoints[rank].rem_srqs[queue];
	return addr_of(rank)->qp;
}

/* Waits only for a moment, since connection messages may come at any time. */
static void wait_for_event(void)
{
	struct pollfd one = { .fd = hca.channel->fd, .events = POLLIN };

	if (poll(&one, 1, 1) > 0)
		hca_wait_for_event();
}

static void progress(void)
{
	xoob_progress();
	if (data_poll(cq[0]) || data_poll(cq[1]))
		return;
	if (hca.channel)
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
	.messages = MESSAGES, .queues = QUEUES, .size = 2048, .short_size = 96,
	.ready = connect_to, .prepare = prepare, .progress = progress,
};

/* Opens the file read-only, with O_CREAT alone, and keeps it open to the end. */
static void open_xrc_domain(void)
{
	char file[128];

	snprintf(file, sizeof(file), "host%c-openib_xrc_domain_%s", 'A' + job.host,
		 ibv_get_device_name(hca.context->device));
	hca_open_domain(file, O_CREAT);
	if (hca.xrc_domain->context != hca.context)
		job_die("xrc_domain->context is not the device's");
}

static void start(void)
{
	int i;

	hca.access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	hca_open();
	hca_reg_mr(&data_memory, sizeof(data_memory));
	data_start(&data);
	must_be_0(pipe(stop_pipe), "pipe");
	must_be_0(pthread_create(&async_thread, NULL, async_main, NULL), "pthread_create");
	open_xrc_domain();
	for (i = 0; i < QUEUES; i++) {
		cq[i] = hca_create_cq(512, hca.channel);
		hca_arm(cq[i]);
		pool_start(&pools[i], hca_create_srq(cq[i], RD_NUM + SENDS, 0), RD_NUM, RD_INIT,
			   RD_LOW);
		hca_arm_limit(pools[i].srq, SRQ_LIMIT);
	}
	hca.cq = cq[1];
}

/* Asks for all endpoints at once: for the second while the first is being connected. */
static void exchange(void)
{
	int turn;

	for (turn = 0; turn < job.local_size; turn++)
		xoob_start_connect(job_peer(turn));
	data_exchange();
	pool_await_limits();
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
		drop_recv_qp(0);
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

/* ---- End: the last endpoint of a host destroys the sending QP ---- */

static void finish(void)
{
	int i;

	for (i = 0; i < job.size; i++) {
		if (addr_of(i)->qp && i % job.local_size == job.local_size - 1)
			DO(destroy_qp, addr_of(i)->qp);
		drop_recv_qp(i);
	}
	for (i = 0; i < QUEUES; i++)
		DO(destroy_srq, pools[i].srq);
	async_stop();
	for (i = 0; i < QUEUES; i++)
		DO(destroy_cq, cq[i]);
	hca_close_all();
}

static int rank_main(void)
{
	start();
	exchange();
	reconnect();
	finish();
	return 0;
}

int main(int argc, char **argv)
{
	return client_main(argc, argv, 2, rank_main);
}
