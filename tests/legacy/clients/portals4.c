/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What Portals4 did with XRC through its librdmacm patch. One rank of a node creates the domain,
 * and the others retry until they can open it. The receive QPs of the creating rank receive for
 * all. No other process is registered with them.
 *
 * --daemon: as in the sources of 2011, the domain's file comes from mkstemp, and the domain is
 * opened with O_CREAT|O_EXCL.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "portals4.h"

#define RANKS 3			/* of a node */
#define FILE_NAME 128
#define BUFFERS 64

static uint32_t srqn[JOB_RANKS_MAX];
static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_xrc_domain *xrc_domain;
static int domain_fd;
static struct connection sending, accepted[JOB_RANKS_MAX];
static int by_events, daemon_tree, max_inline;

static int is_main(void)
{
	return !job.local_rank;
}

/* ---- The domain ---- */

static void open_hca(void)
{
	context = conn_open_hca();
	pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
	if (by_events)
		channel = must(ibv_create_comp_channel(context), "ibv_create_comp_channel");
	cq = must(ibv_create_cq(context, 512, NULL, channel, 0), "ibv_create_cq");
}

/*
 * Sends the file's name to the others, and waits until their first attempts to open the domain have
 * failed.
 */
static void make_domain(char *file)
{
	char word;
	int i;

	domain_fd = daemon_tree ? mkstemp(file) : open(file, O_RDWR | O_CREAT, 0600);
	if (domain_fd < 0)
		job_die("%s: %s", file, strerror(errno));
	for (i = 1; i < job.local_size; i++)
		job_send(JOB_CM, job.rank + i, file, FILE_NAME);
	for (i = 1; i < job.local_size; i++)
		while (job_receive(JOB_CM, job.rank + i, &word, sizeof(word), -1) < 0)
			;
	xrc_domain = must(ibv_open_xrc_domain(context, domain_fd,
					      daemon_tree ? O_CREAT | O_EXCL : O_CREAT),
			  "ibv_open_xrc_domain");
}

/*
 * Tries to open the domain without O_CREAT until it succeeds. It must fail as long as the main rank
 * has not created the domain.
 */
static void join_domain(char *file)
{
	int main_rank = job.host * job.local_size;
	char word = 0;

	while (job_receive(JOB_CM, main_rank, file, FILE_NAME, -1) < 0)
		;
	domain_fd = open(file, O_RDWR);
	if (domain_fd < 0)
		job_die("%s: %s", file, strerror(errno));
	if (ibv_open_xrc_domain(context, domain_fd, 0))
		job_die("ibv_open_xrc_domain opened a domain before the main rank created it");
	if (errno != EAGAIN)
		job_die("ibv_open_xrc_domain of a missing domain: %s", strerror(errno));
	job_send(JOB_CM, main_rank, &word, sizeof(word));
	while (!(xrc_domain = ibv_open_xrc_domain(context, domain_fd, 0)))
		job_idle();
}

static void open_domain(void)
{
	char file[FILE_NAME] = "";

	snprintf(file, sizeof(file), "%s/p4-xrc-1-%d-%s", job.dir, job.host,
		 daemon_tree ? "XXXXXX" : "0");
	if (is_main())
		make_domain(file);
	else
		join_domain(file);
}

/* ---- Data ---- */

static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	(void)queue;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (wr->opcode == IBV_WR_SEND && (int)wr->sg_list->length <= max_inline)
		wr->send_flags |= IBV_SEND_INLINE;
	wr->xrc_remote_srq_num = srqn[rank];
	return sending.qp;
}

static void take_buffer(unsigned queue, unsigned slot)
{
	data_post_recv(srq, queue, slot);
}

static void progress(void)
{
	data_progress(cq, channel);
}

/* Portals4 initialises no work request. */
static const struct data data = {
	.messages = 40, .queues = 1, .size = 1024, .short_size = 120, .gets = 1, .filler = 0xa5,
	.prepare = prepare, .take_buffer = take_buffer, .progress = progress,
};

/* ---- Queues ---- */

static void create_srq(void)
{
	struct ibv_srq_init_attr attr;
	unsigned slot;

	attr.srq_context = &srqn;
	attr.attr.max_wr = BUFFERS;
	attr.attr.max_sge = 1;
	attr.attr.srq_limit = 0;
	srq = must(ibv_create_xrc_srq(pd, xrc_domain, cq, &attr), "ibv_create_xrc_srq");
	srqn[job.rank] = srq->xrc_srq_num;
	mr = must(ibv_reg_mr(pd, &data_memory, sizeof(data_memory),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ),
		  "ibv_reg_mr");
	data_start(&data, mr->lkey, mr->rkey);
	for (slot = 0; slot < BUFFERS; slot++)
		take_buffer(0, slot);
}

static void qp_attr(struct ibv_qp_init_attr *attr, int sends)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_type = IBV_QPT_XRC;
	attr->send_cq = cq;
	attr->recv_cq = cq;
	attr->srq = sends ? NULL : srq;
	attr->xrc_domain = xrc_domain;
	attr->cap.max_send_wr = sends ? SENDS : 0;
	attr->cap.max_send_sge = sends ? 1 : 0;
	attr->cap.max_inline_data = sends ? 200 : 0;
}

static void request(void)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	conn_resolve(&sending);
	qp_attr(&init, 1);
	conn_create_qp(&sending, pd, &init);
	must_be_0(ibv_query_qp(sending.qp, &attr, IBV_QP_CAP, &init), "ibv_query_qp");
	if (init.cap.max_inline_data < 200 || init.cap.max_inline_data > 1 << 16 ||
	    init.cap.max_send_wr < SENDS)
		job_die("ibv_query_qp returned max_inline_data %u, max_send_wr %u",
			init.cap.max_inline_data, init.cap.max_send_wr);
	max_inline = (int)init.cap.max_inline_data;
	conn_request(&sending);
}

static void accept_from(int rank)
{
	struct ibv_qp_init_attr init;

	qp_attr(&init, 0);
	conn_create_qp(&accepted[rank], pd, &init);
	conn_accept(&accepted[rank]);
}

/* Each rank connects to the main rank of the other node. A main rank accepts local_size of them. */
static void connect_all(void)
{
	int connections_left = 1 /* our own request */ + (is_main() ? job.local_size : 0), from;

	job_gather(JOB_WORLD, &srqn[job.rank], sizeof(srqn[0]), srqn);
	request();
	for (; connections_left; connections_left--) {
		from = conn_next(&sending, accepted);
		if (from >= 0)
			accept_from(from);
	}
	job_barrier(JOB_WORLD);
}

/* ---- End: the file is closed before the domain ---- */

static void end_connection(struct connection *conn)
{
	if (!conn->connected)
		return;
	conn_disconnect(conn);
	conn_destroy_qp(conn);
}

static int rank_main(void)
{
	int i;

	open_hca();
	open_domain();
	create_srq();
	if (channel)
		must_be_0(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	connect_all();
	data_exchange();
	job_barrier(JOB_WORLD);
	end_connection(&sending);
	for (i = 0; i < job.size; i++)
		end_connection(&accepted[i]);
	must_be_0(ibv_destroy_srq(srq), "ibv_destroy_srq");
	close(domain_fd);
	must_be_0(ibv_close_xrc_domain(xrc_domain), "ibv_close_xrc_domain");
	must_be_0(ibv_destroy_cq(cq), "ibv_destroy_cq");
	if (channel)
		must_be_0(ibv_destroy_comp_channel(channel), "ibv_destroy_comp_channel");
	must_be_0(ibv_dereg_mr(mr), "ibv_dereg_mr");
	must_be_0(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	conn_close_hca();
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const flags[] = { "--poll", "--event", "--daemon", NULL };

	job_options(argc, argv, flags);
	by_events = job_option(argc, argv, "--event");
	daemon_tree = job_option(argc, argv, "--daemon");
	return job_run(daemon_tree ? "portals4 --daemon" : "portals4", RANKS, rank_main);
}
