/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What GASNet's vapi-conduit does with XRC. It leaves garbage in every init_attr. It closes and
 * unlinks the domain's file at once. All processes of a supernode modify the same receive QPs.
 *
 * Built twice: by default it ends by exit(), destroys nothing and does not refer to
 * ibv_unreg_xrc_rcv_qp; with GASNETC_IBV_SHUTDOWN it unregisters and destroys everything.
 */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gasnet.h"
#include "hca.h"
#include "slots.h"

#define PROCESSES 3		/* of a supernode; they race for its receive QPs */
#define BUFFERS 96		/* enough for all messages: this protocol has no credits */
#define BUFFER_SIZE 1024
/* active messages to each process of the other supernode; each is replied to */
#define REQUESTS 30
#define PART 4096		/* of the segment, for each process */

struct supernode *supernode;
struct bootstrap boot[JOB_RANKS_MAX];
struct ibv_pd *pd;
struct ibv_cq *snd_cq, *rcv_cq;
struct ibv_xrc_domain *xrc_domain;
struct ibv_qp *snd_qp;

static struct {
	char receive[SRQS][BUFFERS][BUFFER_SIZE];
	char send[SENDS][BUFFER_SIZE];
	char put_from[JOB_RANKS_MAX][PART], get_to[JOB_RANKS_MAX][PART];
} memory;

static struct segment {
	char put_to[JOB_RANKS_MAX][PART], get_from[JOB_RANKS_MAX][PART];
} segment;

static struct ibv_context *hca;
static struct ibv_comp_channel *channel;
static struct ibv_srq *srqs[SRQS];
static struct ibv_mr *mr, *segment_mr;
/* GASNET_RCV_THREAD: waits for completion events and does not poll */
static int receive_thread;
static struct slots slots = { .count = SENDS };
static unsigned sent[SRQS][JOB_RANKS_MAX], received[SRQS][JOB_RANKS_MAX];

/* ---- Start ---- */

static void open_hca(void)
{
	hca = hca_open_with_xrc(&boot[job.rank].lid);
	pd = must(ibv_alloc_pd(hca), "ibv_alloc_pd");
	mr = must(ibv_reg_mr(pd, &memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE), "ibv_reg_mr");
	segment_mr = must(ibv_reg_mr(pd, &segment, sizeof(segment),
				     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				     IBV_ACCESS_REMOTE_READ),
			  "ibv_reg_mr");
	snd_cq = must(ibv_create_cq(hca, 2 * SENDS, NULL, NULL, 0), "ibv_create_cq");
	if (receive_thread)
		channel = must(ibv_create_comp_channel(hca), "ibv_create_comp_channel");
	rcv_cq = must(ibv_create_cq(hca, SRQS * BUFFERS, NULL, channel, 0), "ibv_create_cq");
}

/*
 * The file is closed right after the open, and unlinked when all processes of the supernode have
 * opened the domain.
 */
static void xrc_init(void)
{
	char file[128];
	int fd;

	if (!job.local_rank)
		supernode->leader = getpid();
	job_barrier(JOB_HOST);
	snprintf(file, sizeof(file), "%s/GASNETxrc-%x0-%d", job.dir, boot[job.rank].lid,
		 (int)supernode->leader);
	fd = open(file, O_CREAT, 0600);
	if (fd < 0)
		job_die("%s: %s", file, strerror(errno));
	xrc_domain = ibv_open_xrc_domain(hca, fd, O_CREAT);
	if (!xrc_domain)
		job_die("%s: %s", errno == ENOSYS ? "lack of XRC" : "ibv_open_xrc_domain",
			strerror(errno));
	close(fd);
	job_barrier(JOB_HOST);
	unlink(file);
}

static void post_receive(unsigned queue, unsigned slot)
{
	struct ibv_sge sge = { (uintptr_t)memory.receive[queue][slot], BUFFER_SIZE, mr->lkey };
	struct ibv_recv_wr wr, *bad;

	garbage(&wr, sizeof(wr));
	wr.wr_id = queue << 16 | slot;
	wr.next = NULL;
	wr.sg_list = &sge;
	wr.num_sge = 1;
	must_be_0(ibv_post_srq_recv(srqs[queue], &wr, &bad), "ibv_post_srq_recv");
}

static void srq_init(enum queue queue)
{
	struct ibv_srq_init_attr attr;
	unsigned slot;

	garbage(&attr, sizeof(attr));
	attr.srq_context = NULL;
	attr.attr.max_wr = BUFFERS;
	attr.attr.max_sge = 1;
	attr.attr.srq_limit = 0;
	srqs[queue] = must(ibv_create_xrc_srq(pd, xrc_domain, rcv_cq, &attr), "ibv_create_xrc_srq");
	boot[job.rank].srqn[queue] = srqs[queue]->xrc_srq_num;
	for (slot = 0; slot < BUFFERS; slot++)
		post_receive(queue, slot);
}

static void start(void)
{
	struct ibv_qp *rc;
	int i;

	supernode = job.host_memory;
	for (i = 0; i < job.size; i++)
		job_fill(segment.get_from[i], PART, i, 0);
	open_hca();
	xrc_init();
	srq_init(SRQ_REQUEST);
	srq_init(SRQ_REPLY);
	probe_inline_limit();
	/* The same function creates RC QPs, for which it leaves xrc_domain uninitialised. */
	rc = must(create_qp(IBV_QPT_RC, 0), "ibv_create_qp of type RC");
	must_be_0(ibv_destroy_qp(rc), "ibv_destroy_qp of type RC");
	if (channel)
		must_be_0(ibv_req_notify_cq(rcv_cq, 0), "ibv_req_notify_cq");
	connect_all(segment_mr->rkey, &segment);
}

/* ---- Data ---- */

static void progress(void)
{
	struct ibv_wc wc;

	while (hca_poll_cq(snd_cq, &wc))
		slots_give(&slots, (unsigned)wc.wr_id);
	job_idle();
}

static unsigned free_slot(void)
{
	return slots_wait(&slots, progress);
}

/* Sets the SRQ's number in every request, also where RDMA does not need it. */
static void post_send(int peer, unsigned slot, struct ibv_send_wr *wr, struct ibv_sge *sge,
		      enum queue queue)
{
	struct ibv_send_wr *bad;

	wr->wr_id = slot;
	wr->next = NULL;
	wr->sg_list = sge;
	wr->num_sge = 1;
	wr->xrc_remote_srq_num = boot[peer].srqn[queue];
	must_be_0(ibv_post_send(snd_qp, wr, &bad), "ibv_post_send");
	slots_take(&slots, slot);
}

static void send_am(int peer, enum queue queue)
{
	unsigned slot = free_slot();
	struct ibv_send_wr wr;
	uint32_t length = sent[queue][peer] % 3 ? BUFFER_SIZE : 48;
	struct ibv_sge sge = { (uintptr_t)memory.send[slot], length, mr->lkey };

	garbage(&wr, sizeof(wr));
	job_fill(memory.send[slot], length, peer, sent[queue][peer]++);
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htonl((uint32_t)queue << 8 | (uint32_t)job.rank);
	wr.send_flags = length <= 48 ? IBV_SEND_INLINE : 0;
	post_send(peer, slot, &wr, &sge, queue);
}

static void rdma(int peer, enum ibv_wr_opcode opcode, char *local, size_t remote_offset)
{
	unsigned slot = free_slot();
	struct ibv_sge sge = { (uintptr_t)local, PART, mr->lkey };
	struct ibv_send_wr wr;

	garbage(&wr, sizeof(wr));
	wr.opcode = opcode;
	wr.send_flags = 0;
	wr.wr.rdma.remote_addr = boot[peer].segment + remote_offset + (size_t)job.rank * PART;
	wr.wr.rdma.rkey = boot[peer].rkey;
	post_send(peer, slot, &wr, &sge, SRQ_REQUEST);
}

static void put_and_get(int peer)
{
	job_fill(memory.put_from[peer], PART, peer, REQUESTS);
	rdma(peer, IBV_WR_RDMA_WRITE, memory.put_from[peer], offsetof(struct segment, put_to));
	rdma(peer, IBV_WR_RDMA_READ, memory.get_to[peer], offsetof(struct segment, get_from));
}

/* GASNet knows the sender by the receive QP's number alone. */
static int sender_of(const struct ibv_wc *wc)
{
	int i;

	for (i = 0; i < job.local_size; i++)
		if (wc->qp_num == supernode->rcv_qpn[job_first_peer() + i])
			return job_first_peer() + i;
	job_die("received on QP 0x%x, which is none of ours", wc->qp_num);
}

static void take_received(const struct ibv_wc *wc)
{
	unsigned queue = (unsigned)(wc->wr_id >> 16), slot = (unsigned)(wc->wr_id & 0xffff);
	int from = sender_of(wc);

	if (job_verify_next(memory.receive[queue][slot], wc->byte_len, received[queue]) != from)
		job_die("the QP of rank %d received a message of another rank", from);
	if (!(wc->wc_flags & IBV_WC_WITH_IMM) ||
	    ntohl(wc->imm_data) != (queue << 8 | (uint32_t)from))
		job_die("immediate data 0x%x from rank %d", ntohl(wc->imm_data), from);
	if (queue == SRQ_REQUEST && received[queue][from] == REQUESTS)
		job_verify_rdma(from, segment.put_to[from], PART);
	post_receive(queue, slot);
	if (queue == SRQ_REQUEST)
		send_am(from, SRQ_REPLY);
}

static void take_receptions(void)
{
	struct ibv_wc wc;

	while (hca_poll_cq(rcv_cq, &wc))
		take_received(&wc);
}

static int all_received(void)
{
	return job_heard_all(received[SRQ_REQUEST], REQUESTS) &&
	       job_heard_all(received[SRQ_REPLY], REQUESTS);
}

static void exchange(void)
{
	int i, peer, request;

	for (request = 0; request < REQUESTS; request++)
		for (i = 0; i < job.local_size; i++) {
			peer = job_peer(i);
			if (request == REQUESTS - 1)
				put_and_get(peer);
			send_am(peer, SRQ_REQUEST);
			take_receptions();
		}
	for (take_receptions(); !all_received(); take_receptions()) {
		if (channel)
			hca_wait_for_event(channel);
		else
			job_idle();
	}
	while (slots.in_flight)
		progress();
	for (i = 0; i < job.local_size; i++)
		job_verify_rdma(job_first_peer() + i, memory.get_to[job_first_peer() + i], PART);
}

/* ---- End: not in the default build ---- */

#ifdef GASNETC_IBV_SHUTDOWN
static void shut_down(void)
{
	destroy_qps();
	must_be_0(ibv_destroy_srq(srqs[SRQ_REQUEST]), "ibv_destroy_srq");
	must_be_0(ibv_destroy_srq(srqs[SRQ_REPLY]), "ibv_destroy_srq");
	must_be_0(ibv_destroy_cq(snd_cq), "ibv_destroy_cq");
	must_be_0(ibv_destroy_cq(rcv_cq), "ibv_destroy_cq");
	must_be_0(ibv_dereg_mr(mr), "ibv_dereg_mr");
	must_be_0(ibv_dereg_mr(segment_mr), "ibv_dereg_mr");
	must_be_0(ibv_dealloc_pd(pd), "ibv_dealloc_pd");
	must_be_0(ibv_close_device(hca), "ibv_close_device");
}
#endif

static int rank_main(void)
{
	start();
	exchange();
	job_barrier(JOB_WORLD);
#ifdef GASNETC_IBV_SHUTDOWN
	shut_down();
#endif
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const flags[] = { "--poll", "--event", NULL };

	job_options(argc, argv, flags);
	receive_thread = job_option(argc, argv, "--event");
#ifdef GASNETC_IBV_SHUTDOWN
	return job_run("gasnet-shutdown", PROCESSES, rank_main);
#else
	return job_run("gasnet", PROCESSES, rank_main);
#endif
}
