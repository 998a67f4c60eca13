/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What HP-MPI and Platform MPI do, as far as their manuals tell it: they ask for the kernel module,
 * open libibverbs by a list of names, look at the card and close libibverbs; each rank opens it
 * again. The program has malloc, free, mmap and munmap of its own. Fork safety is on. A rank has a
 * rail on each of two cards; messages take the first one. The QPs have an alternate path, and are
 * reset when a peer is lost.
 */
#undef _FILE_OFFSET_BITS	/* with which mmap() would not be the one of hpmpi_memory.c */

#define VERBS(X) \
	X(fork_init) X(get_device_list) X(free_device_list) X(open_device) X(close_device) \
	X(query_device) X(query_port) X(alloc_pd) X(dealloc_pd) X(reg_mr) X(dereg_mr) \
	X(create_comp_channel) X(destroy_comp_channel) X(create_cq) X(destroy_cq) X(get_cq_event) \
	X(ack_cq_events) X(modify_srq) X(destroy_srq) X(create_qp) X(modify_qp) X(query_qp) \
	X(destroy_qp) X(get_async_event) X(ack_async_event) X(wc_status_str) X(open_xrc_domain) \
	X(close_xrc_domain) X(create_xrc_srq) X(create_xrc_rcv_qp) X(modify_xrc_rcv_qp) \
	X(reg_xrc_rcv_qp) X(unreg_xrc_rcv_qp)

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "client.h"
#include "hpmpi_memory.h"

#define BUFFERS 128
#define MESSAGES 40
#define RAILS 2
#define ROUNDS 8		/* of zero copy: each with new memory */
#define ZERO_COPY_SIZE 200000	/* glibc takes as much from mmap */

/* ---- How it finds InfiniBand ---- */

static void find_module(void)
{
	FILE *modules = fopen("/proc/modules", "r");
	char line[512];
	int found = 0;

	while (!found && modules && fgets(line, sizeof(line), modules))
		found = !strncmp(line, "ib_core ", strlen("ib_core "));
	if (modules)
		fclose(modules);
	if (!found)
		job_die("ib_core is not in /proc/modules");
}

/* libibverbs.so comes with development packages only. */
static void *open_library(void)
{
	static const char *const names[] = { "libibverbs.so", "libibverbs.so.1" };
	void *library = NULL;
	size_t i;

	for (i = 0; !library && i < sizeof(names) / sizeof(*names); i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_GLOBAL);
	return must(library, "dlopen of libibverbs");
}

/* The launcher asks whether there is a card, and closes the library again. */
static void find_card(void)
{
	void *library = open_library();
	struct ibv_device **list, **(*get_list)(int *count);
	int count = 0;

	get_list = (__typeof__(get_list))must(dlsym(library, "ibv_get_device_list"), "dlsym");
	list = get_list(&count);
	if (!list || !count || list[0]->transport_type != IBV_TRANSPORT_IB)
		job_die("there is no InfiniBand card");
	must_be_0(dlclose(library), "dlclose");
}

static void open_verbs(void)
{
	void *library = open_library();

#define X(name) verbs.name = (__typeof__(verbs.name))must(dlsym(library, "ibv_" #name), #name);
	VERBS(X)
#undef X
}

/* ---- Connections: a sending QP, and a receive QP for each remote rank, shared by the host ---- */

static struct rail {
	struct hca hca;		/* the global one is that of the first rail, but at start and end */
	struct ibv_qp *snd_qp;
	struct ibv_srq *srq;
	struct address {
		uint32_t lid, alternate_lid, snd_qpn, rcv_qpn, srqn;
	} mine, addresses[JOB_RANKS_MAX];
} rails[RAILS];

static struct rail *const first = rails;

static uint32_t alternate_lid(void)
{
	struct ibv_port_attr port;

	must_be_0(VERB(query_port)(hca.context, 2, &port), "ibv_query_port of port 2");
	return port.lid;
}

static struct ibv_qp_attr alternate_path(uint32_t lid)
{
	struct ibv_qp_attr attr = { .alt_port_num = 2, .alt_timeout = 10,
				    .path_mig_state = IBV_MIG_REARM };

	attr.alt_ah_attr.dlid = (uint16_t)lid;
	attr.alt_ah_attr.port_num = 2;
	return attr;
}

/* The rank of the same place creates the receive QP; the others on its host register with it. */
static void connect_all(struct rail *rail)
{
	struct ibv_qp *qp = rail->snd_qp;
	struct address *peer = &rail->addresses[job_peer(0)];
	struct ibv_qp_attr attr = alternate_path(peer->alternate_lid);

	hca_to_init(qp);
	rail->mine.rcv_qpn = hca_create_rcv_qp(peer->snd_qpn, peer->lid, 0);
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 10;
	must_be_0(VERB(modify_xrc_rcv_qp)(hca.xrc_domain, rail->mine.rcv_qpn, &attr,
					  MASK_RTS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE),
		  "ibv_modify_xrc_rcv_qp to RTS");
	job_gather(&rail->mine, sizeof(rail->mine), rail->addresses);
	DO(reg_xrc_rcv_qp, hca.xrc_domain, rail->addresses[job.rank ^ 1].rcv_qpn);
	hca_to_rtr(qp, peer->rcv_qpn, peer->lid, 0);
	hca_to_rts(qp, 10, 0);
	attr = alternate_path(peer->alternate_lid);
	must_be_0(VERB(modify_qp)(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE),
		  "ibv_modify_qp to an alternate path");
	job_barrier();
}

static void drop_receive_qps(const struct rail *rail)
{
	DO(unreg_xrc_rcv_qp, hca.xrc_domain, rail->mine.rcv_qpn);
	DO(unreg_xrc_rcv_qp, hca.xrc_domain, rail->addresses[job.rank ^ 1].rcv_qpn);
	job_barrier();
}

/* ---- Data ---- */

static void take_event(struct ibv_async_event *event)
{
	int flag = (event->event_type & (unsigned int)IBV_XRC_QP_EVENT_FLAG) != 0;
	int type = (int)(event->event_type & ~(unsigned int)IBV_XRC_QP_EVENT_FLAG);

	if (type != IBV_EVENT_COMM_EST && type != IBV_EVENT_PATH_MIG)
		job_die("got %sevent %d", flag ? "XRC " : "", type);
	if (!flag && event->element.qp != first->snd_qp)
		job_die("event %d of an unknown QP", type);
}

static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	(void)queue;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (wr->opcode == IBV_WR_SEND && wr->sg_list->length <= 128)
		wr->send_flags |= IBV_SEND_INLINE;
	wr->xrc_remote_srq_num = first->addresses[rank].srqn;
	return first->snd_qp;
}

static const struct data data = {
	.messages = MESSAGES, .queues = 1, .size = 2048, .short_size = 64,
	.prepare = prepare, .progress = data_progress,
};

/* A request and its completion, on a QP that does nothing else. */
static enum ibv_wc_status execute(const struct rail *rail, int peer, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int count;

	wr->send_flags = IBV_SEND_SIGNALED;
	wr->num_sge = 1;
	wr->xrc_remote_srq_num = rail->addresses[peer].srqn;
	must_be_0(ibv_post_send(rail->snd_qp, wr, &bad), "ibv_post_send");
	while (!(count = ibv_poll_cq(rail->hca.cq, 1, &wc)))
		job_idle();
	if (count < 0)
		job_die("ibv_poll_cq returned %d", count);
	return wc.status;
}

static struct ibv_mr *reg_new(const struct rail *rail, char *memory)
{
	struct ibv_mr *mr = MAKE(reg_mr, rail->hca.pd, memory, ZERO_COPY_SIZE,
				 IBV_ACCESS_LOCAL_WRITE | hca.access);

	pin(mr, VERB(dereg_mr));
	return mr;
}

struct remote {
	uint64_t address;
	uint32_t rkey;
};

/* Writes from memory that is new in each round to memory that is new there, on all rails. */
static void zero_copy(uint32_t round)
{
	const struct rail *rail = &rails[round / 2 % RAILS];
	int by_malloc = round % 2, peer = job_peer((int)round / 4);
	char *from = malloc(ZERO_COPY_SIZE);
	char *to = by_malloc ? malloc(ZERO_COPY_SIZE) :
			       mmap(NULL, ZERO_COPY_SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct remote all[JOB_RANKS_MAX], own = { (uintptr_t)to, reg_new(rail, to)->rkey };
	struct ibv_sge sge = { (uintptr_t)from, ZERO_COPY_SIZE, reg_new(rail, from)->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .opcode = IBV_WR_RDMA_WRITE };
	uint32_t sequence;

	job_fill(from, ZERO_COPY_SIZE, peer, round);
	job_gather(&own, sizeof(own), all);
	wr.wr.rdma.remote_addr = all[peer].address;
	wr.wr.rdma.rkey = all[peer].rkey;
	if (execute(rail, peer, &wr) != IBV_WC_SUCCESS)
		job_die("RDMA write of round %u failed", round);
	job_barrier();
	if (job_verify(to, ZERO_COPY_SIZE, &sequence) != peer || sequence != round)
		job_die("memory of round %u has another content", round);
	free(from);
	if (by_malloc)
		free(to);
	else
		munmap(to, ZERO_COPY_SIZE);
}

/* Registered memory stays the parent's. */
static void start_a_program(void)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		job_die("fork: %d, status 0x%x", pid, (unsigned)status);
}

static enum ibv_mig_state path_of_sender(void)
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	DO(query_qp, first->snd_qp, &attr, IBV_QP_PATH_MIG_STATE, &init_attr);
	return attr.path_mig_state;
}

/* Both ends are armed by the messages before. */
static void migrate(void)
{
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };

	if (path_of_sender() != IBV_MIG_ARMED)
		job_die("the alternate path is not armed");
	must_be_0(VERB(modify_qp)(first->snd_qp, &attr, IBV_QP_PATH_MIG_STATE),
		  "ibv_modify_qp to migrate");
	if (path_of_sender() != IBV_MIG_MIGRATED)
		job_die("the path has not migrated");
}

/* No receive QP is there any more, as if the peer had ended. Resets the QP and connects again. */
static void lose_peer(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_sge sge = { (uintptr_t)data_memory.send[0], 64, hca.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .opcode = IBV_WR_SEND };

	drop_receive_qps(first);
	if (execute(first, job_peer(0), &wr) != IBV_WC_RETRY_EXC_ERR)
		job_die("the message to a lost peer did not end with a retry error");
	must_be_0(VERB(modify_qp)(first->snd_qp, &attr, IBV_QP_STATE), "ibv_modify_qp to RESET");
	job_barrier();
	connect_all(first);
}

static void send_again(unsigned sent)
{
	int turn;

	for (turn = 0; turn < job.local_size; turn++)
		data_send(job_peer(turn), 0);
	data_await(0);
	for (turn = 0; turn < job.local_size; turn++)
		while (data_received(0, job_peer(turn)) <= sent)
			data_progress();
	job_barrier();
}

/* ---- Start and end ---- */

static void open_rail(struct rail *rail)
{
	char file[128];

	hca.rail = (int)(rail - rails);
	hca_open();
	hca.cq = hca_create_cq(1024, hca.channel);
	snprintf(file, sizeof(file), "hpmpi-%c-%d", 'A' + job.host, hca.rail);
	hca_open_domain(file, O_RDWR | O_CREAT);
	hca_reg_mr(&data_memory, sizeof(data_memory));
	rail->srq = hca_create_srq(hca.cq, BUFFERS, 0);
	rail->snd_qp = hca_create_qp(hca_qp_attr(128));
	rail->mine = (struct address){ .lid = hca.lid, .alternate_lid = alternate_lid(),
				       .snd_qpn = rail->snd_qp->qp_num,
				       .srqn = rail->srq->xrc_srq_num };
	job_gather(&rail->mine, sizeof(rail->mine), rail->addresses);
	connect_all(rail);
	rail->hca = hca;
}

static void close_rail(struct rail *rail)
{
	drop_receive_qps(rail);
	DO(destroy_qp, rail->snd_qp);
	DO(destroy_srq, rail->srq);
	DO(destroy_cq, hca.cq);
	hca_close_all();
}

static void start(void)
{
	int i;

	open_verbs();
	DO(fork_init);
	for (i = RAILS - 1; i >= 0; i--)	/* the first one at last: its hca stays */
		open_rail(&rails[i]);
	data_start(&data);
	pool_start(pools, first->srq, BUFFERS, BUFFERS, BUFFERS);
	hca_start_events(take_event);
	hca_arm(hca.cq);
	job_barrier();
}

static void finish(void)
{
	struct rail *rail;

	job_cancel_thread(hca.event_thread);
	for (rail = rails; rail < rails + RAILS; rail++) {
		hca = rail->hca;
		close_rail(rail);
	}
}

static int rank_main(void)
{
	uint32_t round;

	start();
	data_exchange();
	job_barrier();
	for (round = 0; round < ROUNDS; round++) {
		zero_copy(round);
		start_a_program();
	}
	migrate();
	send_again(MESSAGES);
	lose_peer();
	send_again(MESSAGES + 1);
	finish();
	return 0;
}

int main(int argc, char **argv)
{
	find_module();
	find_card();
	return client_main(argc, argv, 2, rank_main);
}
