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

#include "hca.h"
#include "portals4.h"
#include "slots.h"

#ifndef PORTALS4_NAME
#define PORTALS4_NAME "portals4"
#endif

#define RANKS 3			/* of a node */
#define FILE_NAME 128
#define BUFFERS 64
#define BUFFER_SIZE 1024
#define SENDS 16
#define MESSAGES 40		/* to each rank of the other node */
#define RDMA_SIZE 6000

struct rank_entry {
	uint32_t srqn, rkey;
	uint64_t put_to, get_from;
};

static struct {
	char receive[BUFFERS][BUFFER_SIZE];
	char send[SENDS][BUFFER_SIZE];
	char put_from[JOB_RANKS_MAX][RDMA_SIZE], put_to[JOB_RANKS_MAX][RDMA_SIZE];
	char get_from[JOB_RANKS_MAX][RDMA_SIZE], get_to[JOB_RANKS_MAX][RDMA_SIZE];
} memory;

static struct ibv_context *context;
static struct ibv_comp_channel *channel;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;
static struct ibv_mr *mr;
static struct ibv_xrc_domain *xrc_domain;
static int domain_fd;
static struct rank_entry ranks[JOB_RANKS_MAX];
static struct connection sending, accepted[JOB_RANKS_MAX];
static int by_events, daemon_tree, max_inline;
static struct slots slots = { .count = SENDS };
static unsigned sent_to[JOB_RANKS_MAX], received_from[JOB_RANKS_MAX];

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

/* ---- Queues ---- */

static void post_recv(unsigned slot)
{
	hca_post_srq_recv(srq, slot, memory.receive[slot], BUFFER_SIZE, mr->lkey);
}

static void create_srq(void)
{
	struct ibv_srq_init_attr attr;
	unsigned slot;

	attr.srq_context = &ranks;
	attr.attr.max_wr = BUFFERS;
	attr.attr.max_sge = 1;
	attr.attr.srq_limit = 0;
	srq = must(ibv_create_xrc_srq(pd, xrc_domain, cq, &attr), "ibv_create_xrc_srq");
	ranks[job.rank].srqn = srq->xrc_srq_num;
	mr = must(ibv_reg_mr(pd, &memory, sizeof(memory),
			     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ),
		  "ibv_reg_mr");
	for (slot = 0; slot < BUFFERS; slot++)
		post_recv(slot);
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

	conn_resolve(&sending, job_first_peer());
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

	job_gather(JOB_WORLD, &ranks[job.rank], sizeof(ranks[0]), ranks);
	request();
	for (; connections_left; connections_left--) {
		from = conn_next(&sending, accepted);
		if (from >= 0)
			accept_from(from);
	}
	job_barrier(JOB_WORLD);
}

static void start(void)
{
	struct rank_entry *mine = &ranks[job.rank];
	int i;

	for (i = 0; i < job.size; i++)
		job_fill(memory.get_from[i], RDMA_SIZE, i, 0);
	open_hca();
	open_domain();
	create_srq();
	mine->rkey = mr->rkey;
	mine->put_to = (uintptr_t)memory.put_to;
	mine->get_from = (uintptr_t)memory.get_from;
	if (channel)
		must_be_0(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	connect_all();
}

/* ---- Data ---- */

static void take_received(const struct ibv_wc *wc)
{
	int from = job_verify_next(memory.receive[wc->wr_id], wc->byte_len, received_from);

	if (received_from[from] == MESSAGES)
		job_verify_rdma(from, memory.put_to[from], RDMA_SIZE);
	post_recv((unsigned)wc->wr_id);
}

static void progress(void)
{
	struct ibv_wc wc;
	int completed = hca_poll_cq(cq, &wc);

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

static void post_send(int rank, unsigned slot, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
		      uint64_t remote_addr)
{
	struct ibv_send_wr wr, *bad;

	wr.wr_id = slot;
	wr.next = NULL;
	wr.sg_list = sge;
	wr.num_sge = 1;
	wr.opcode = opcode;
	wr.send_flags = IBV_SEND_SIGNALED;
	if (opcode == IBV_WR_SEND && (int)sge->length <= max_inline)
		wr.send_flags |= IBV_SEND_INLINE;
	wr.wr.rdma.remote_addr = remote_addr;
	wr.wr.rdma.rkey = ranks[rank].rkey;
	wr.xrc_remote_srq_num = ranks[rank].srqn;
	must_be_0(ibv_post_send(sending.qp, &wr, &bad), "ibv_post_send");
	slots_take(&slots, slot);
}

static void send_message(int rank)
{
	unsigned slot = free_slot();
	uint32_t length = sent_to[rank] % 3 ? BUFFER_SIZE : 120;
	struct ibv_sge sge = { (uintptr_t)memory.send[slot], length, mr->lkey };

	job_fill(memory.send[slot], length, rank, sent_to[rank]++);
	post_send(rank, slot, &sge, IBV_WR_SEND, 0);
}

static void put_and_get(int rank)
{
	struct ibv_sge put = { (uintptr_t)memory.put_from[rank], RDMA_SIZE, mr->lkey };
	struct ibv_sge get = { (uintptr_t)memory.get_to[rank], RDMA_SIZE, mr->lkey };

	job_fill(memory.put_from[rank], RDMA_SIZE, rank, MESSAGES);
	post_send(rank, free_slot(), &put, IBV_WR_RDMA_WRITE,
		  ranks[rank].put_to + (uint64_t)job.rank * RDMA_SIZE);
	post_send(rank, free_slot(), &get, IBV_WR_RDMA_READ,
		  ranks[rank].get_from + (uint64_t)job.rank * RDMA_SIZE);
}

static int all_done(void)
{
	return job_heard_all(received_from, MESSAGES) && !slots.in_flight;
}

static void exchange(void)
{
	int i, message, rank;

	for (message = 0; message < MESSAGES; message++)
		for (i = 0; i < job.local_size; i++) {
			rank = job_peer(i);
			if (message == MESSAGES - 1)
				put_and_get(rank);
			send_message(rank);
		}
	while (!all_done())
		progress();
	for (rank = job_first_peer(); rank < job_first_peer() + job.local_size; rank++)
		job_verify_rdma(rank, memory.get_to[rank], RDMA_SIZE);
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

	start();
	exchange();
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
	conn_close_hca(context);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const flags[] = { "--poll", "--event", "--daemon", NULL };

	job_options(argc, argv, flags);
	by_events = job_option(argc, argv, "--event");
	daemon_tree = job_option(argc, argv, "--daemon");
	return job_run(daemon_tree ? PORTALS4_NAME " --daemon" : PORTALS4_NAME, RANKS, rank_main);
}
