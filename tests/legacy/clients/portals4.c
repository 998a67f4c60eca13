/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What Portals4 did with XRC through its librdmacm patch. One rank of a node creates the domain,
 * and the others retry until they can open it. The receive QPs of the creating rank receive for
 * all. No other process is registered with them.
 *
 * Today's librdmacm creates and connects the sending QP. A receive QP for each request, which only
 * the patch of that time made, is created here by the legacy functions, in place of a QP without a
 * send queue. It goes through all states, also to RTS, with rdma_init_qp_attr.
 *
 * --daemon: as in the sources of 2011, the domain's file comes from mkstemp, and the domain is
 * opened with O_CREAT|O_EXCL.
 */

#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include <rdma/rdma_cma.h>

#include "client.h"

#define RANKS 3			/* of a node */
#define BUFFERS 64
#define PORT 7471
#define RESOLVE_MS 10000

/* A connection has a QP, or, if made with max_send_wr 0, no qp but the number of a receive QP. */
struct connection {
	struct rdma_cm_id *id;
	struct ibv_qp *qp;
	uint32_t xrc_rcv_qpn;
};

/* listening gets requests, connecting the events of our own connection. */
static struct rdma_event_channel *listening, *connecting;
static struct rdma_cm_id *listen_id;
static struct connection sending, accepted[JOB_RANKS_MAX];
static uint32_t srqn[JOB_RANKS_MAX];
static struct ibv_srq *srq;
static int daemon_tree;
static uint32_t max_inline;

static int is_main(void)
{
	return !job.local_rank;
}

/* ---- The domain ---- */

/* The main rank: creates the domain when the other ranks' first attempts to open it have failed. */
static void make_domain(char *file)
{
	int flags = daemon_tree ? O_CREAT | O_EXCL : O_CREAT;

	hca.domain_fd = daemon_tree ? mkstemp(file) : open(file, O_RDWR | O_CREAT, 0600);
	if (hca.domain_fd < 0)
		job_die("%s: %s", file, strerror(errno));
	job_host_barrier();
	job_host_barrier();
	hca.xrc_domain = MAKE(open_xrc_domain, hca.context, hca.domain_fd, flags);
}

/* Tries to open the domain without O_CREAT until it succeeds. */
static void join_domain(const char *file)
{
	job_host_barrier();
	hca.domain_fd = open(file, O_RDWR);
	if (hca.domain_fd < 0)
		job_die("%s: %s", file, strerror(errno));
	if (ibv_open_xrc_domain(hca.context, hca.domain_fd, 0))
		job_die("ibv_open_xrc_domain opened a domain before the main rank created it");
	if (errno != EAGAIN)
		job_die("ibv_open_xrc_domain of a missing domain: %s", strerror(errno));
	job_host_barrier();
	while (!(hca.xrc_domain = ibv_open_xrc_domain(hca.context, hca.domain_fd, 0)))
		job_idle();
}

static void open_domain(void)
{
	if (!is_main()) {
		join_domain(job.host_memory);
		return;
	}
	snprintf(job.host_memory, JOB_MESSAGE_MAX, "p4-xrc-1-%d-%s", job.host,
		 daemon_tree ? "XXXXXX" : "0");
	make_domain(job.host_memory);
}

/* ---- Connections by librdmacm ---- */

/* The address that softhca gives to the host's device. */
static struct sockaddr_in address(int host, int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = inet_addr(host ? "198.18.1.1" : "198.18.0.1"),
	};
}

/* The caller acknowledges the event. */
static struct rdma_cm_event *next_event(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	must_be_0(rdma_get_cm_event(channel, &event), "rdma_get_cm_event");
	return event;
}

static void expect(enum rdma_cm_event_type want)
{
	struct rdma_cm_event *event = next_event(connecting);

	if (event->event != want)
		job_die("%s (%d) where %s was expected", rdma_event_str(event->event),
			event->status, rdma_event_str(want));
	must_be_0(rdma_ack_cm_event(event), "rdma_ack_cm_event");
}

/* librdmacm opens the device itself; an id that is bound to the address has it. */
static void open_hca(void)
{
	struct sockaddr_in own = address(job.host, is_main() ? PORT : 0);

	listening = must(rdma_create_event_channel(), "rdma_create_event_channel");
	connecting = must(rdma_create_event_channel(), "rdma_create_event_channel");
	must_be_0(rdma_create_id(listening, &listen_id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must_be_0(rdma_bind_addr(listen_id, (struct sockaddr *)&own), "rdma_bind_addr");
	if (is_main())
		must_be_0(rdma_listen(listen_id, JOB_RANKS_MAX), "rdma_listen");
	hca.context = must(listen_id->verbs, "the device of the address");
	hca_alloc_pd();
	hca.cq = hca_create_cq(512, hca.channel);
}

static void close_hca(void)
{
	DO(dereg_mr, hca.mr);
	DO(dealloc_pd, hca.pd);
	must_be_0(rdma_destroy_id(listen_id), "rdma_destroy_id");
	rdma_destroy_event_channel(listening);
	rdma_destroy_event_channel(connecting);
}

static struct rdma_conn_param parameters(void)
{
	return (struct rdma_conn_param){
		.private_data = &job.rank, .private_data_len = sizeof(job.rank),
		.responder_resources = 4, .initiator_depth = 4, .retry_count = 7,
		.rnr_retry_count = 7,
	};
}

static void request(void)
{
	struct sockaddr_in own = address(job.host, 0), other = address(1 - job.host, PORT);
	struct rdma_conn_param param = parameters();
	struct ibv_qp_init_attr init = hca_qp_attr(200);
	struct ibv_qp_attr attr;

	init.sq_sig_all = 0;
	must_be_0(rdma_create_id(connecting, &sending.id, NULL, RDMA_PS_TCP), "rdma_create_id");
	must_be_0(rdma_resolve_addr(sending.id, (struct sockaddr *)&own, (struct sockaddr *)&other,
				    RESOLVE_MS),
		  "rdma_resolve_addr");
	expect(RDMA_CM_EVENT_ADDR_RESOLVED);
	must_be_0(rdma_resolve_route(sending.id, RESOLVE_MS), "rdma_resolve_route");
	expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
	must_be_0(rdma_create_qp(sending.id, hca.pd, &init), "rdma_create_qp");
	sending.qp = must(sending.id->qp, "the QP of the id");
	DO(query_qp, sending.qp, &attr, IBV_QP_CAP, &init);
	max_inline = init.cap.max_inline_data;
	if (max_inline < 200 || max_inline > 1 << 16 || init.cap.max_send_wr < SENDS)
		job_die("ibv_query_qp returned max_inline_data %u, max_send_wr %u", max_inline,
			init.cap.max_send_wr);
	must_be_0(rdma_connect(sending.id, &param), "rdma_connect");
}

/* Modifies it as librdmacm modifies its own QPs. */
static void modify_rcv_qp(struct connection *conn, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr;
	int mask;

	attr.qp_state = state;
	must_be_0(rdma_init_qp_attr(conn->id, &attr, &mask), "rdma_init_qp_attr");
	DO(modify_xrc_rcv_qp, hca.xrc_domain, conn->xrc_rcv_qpn, &attr, mask);
}

/*
 * The patch passed its attributes on to ibv_create_xrc_rcv_qp as they were, with CQs, SRQ and
 * capacities, which mean nothing there.
 */
static void accept_connection(struct connection *conn)
{
	struct rdma_conn_param param = parameters();
	struct ibv_qp_init_attr attr = hca_qp_attr(0);

	attr.srq = srq;
	attr.cap.max_send_wr = 0;
	DO(create_xrc_rcv_qp, &attr, &conn->xrc_rcv_qpn);
	modify_rcv_qp(conn, IBV_QPS_INIT);
	modify_rcv_qp(conn, IBV_QPS_INIT);
	modify_rcv_qp(conn, IBV_QPS_RTR);
	modify_rcv_qp(conn, IBV_QPS_RTS);
	param.srq = 1;
	param.qp_num = conn->xrc_rcv_qpn;
	must_be_0(rdma_accept(conn->id, &param), "rdma_accept");
}

/* True: the event is a request. False: an earlier request is established now. */
static int take_request(void)
{
	struct rdma_cm_event *event = next_event(listening);
	int rank, is_request = event->event == RDMA_CM_EVENT_CONNECT_REQUEST;

	if (!is_request && event->event != RDMA_CM_EVENT_ESTABLISHED)
		job_die("%s (%d) where requests come", rdma_event_str(event->event), event->status);
	if (is_request) {
		memcpy(&rank, event->param.conn.private_data, sizeof(rank));
		accepted[rank].id = event->id;
		accept_connection(&accepted[rank]);
	}
	must_be_0(rdma_ack_cm_event(event), "rdma_ack_cm_event");
	return is_request;
}

/* Each rank connects to the main rank of the other node. A main rank accepts local_size of them. */
static void connect_all(void)
{
	int left = 1 /* our own request */ + (is_main() ? job.local_size : 0);
	struct pollfd fds[] = { { listening->fd, POLLIN, 0 }, { connecting->fd, POLLIN, 0 } };

	job_gather(&srqn[job.rank], sizeof(srqn[0]), srqn);
	request();
	while (left) {
		poll(fds, 2, -1);
		if (fds[1].revents) {
			expect(RDMA_CM_EVENT_ESTABLISHED);
			left--;
		} else if (take_request()) {
			left--;
		}
	}
	job_barrier();
}

static void end_connection(struct connection *conn)
{
	struct ibv_qp_attr attr;

	if (!conn->id)
		return;
	if (!conn->qp) {
		/* The patch ignored the result. On mlx5 this fails. */
		attr.qp_state = IBV_QPS_SQD;
		ibv_modify_xrc_rcv_qp(hca.xrc_domain, conn->xrc_rcv_qpn, &attr, IBV_QP_STATE);
		attr.qp_state = IBV_QPS_ERR;
		must_be_0(ibv_modify_xrc_rcv_qp(hca.xrc_domain, conn->xrc_rcv_qpn, &attr,
						IBV_QP_STATE),
			  "ibv_modify_xrc_rcv_qp to ERR");
	}
	must_be_0(rdma_disconnect(conn->id), "rdma_disconnect");
	if (conn->qp)
		rdma_destroy_qp(conn->id);
	else
		DO(unreg_xrc_rcv_qp, hca.xrc_domain, conn->xrc_rcv_qpn);
	must_be_0(rdma_destroy_id(conn->id), "rdma_destroy_id");
}

/* ---- Data ---- */

static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	(void)queue;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (wr->opcode == IBV_WR_SEND && wr->sg_list->length <= max_inline)
		wr->send_flags |= IBV_SEND_INLINE;
	wr->xrc_remote_srq_num = srqn[rank];
	return sending.qp;
}

static const struct data data = {
	.messages = 40, .queues = 1, .size = 1024, .short_size = 120,
	.prepare = prepare, .progress = data_progress,
};

static void start(void)
{
	hca.filler = 0xa5;	/* Portals4 initialises neither SRQ attributes nor requests. */
	open_hca();
	open_domain();
	srq = hca_create_srq(hca.cq, BUFFERS, 0);
	srqn[job.rank] = srq->xrc_srq_num;
	hca_reg_mr(&data_memory, sizeof(data_memory));
	data_start(&data);
	pool_start(pools, srq, BUFFERS, BUFFERS, BUFFERS);
	hca_arm(hca.cq);
	connect_all();
}

/* The file is closed before the domain. */
static int rank_main(void)
{
	int i;

	start();
	data_exchange();
	job_barrier();
	end_connection(&sending);
	for (i = 0; i < job.size; i++)
		end_connection(&accepted[i]);
	DO(destroy_srq, srq);
	close(hca.domain_fd);
	DO(close_xrc_domain, hca.xrc_domain);
	DO(destroy_cq, hca.cq);
	hca_close_channel();
	close_hca();
	return 0;
}

int main(int argc, char **argv)
{
	daemon_tree = job_option(argc, argv, "--daemon");
	return client_main(argc, argv, RANKS, rank_main);
}
