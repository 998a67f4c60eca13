/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What HP-MPI and Platform MPI do, as far as their manuals tell it: they ask for the kernel module,
 * open libibverbs by a list of names, look at the card and close libibverbs; each rank opens it
 * again. The program has malloc, free, mmap and munmap of its own; free and munmap end
 * registrations. Fork safety is on. The QPs have an alternate path, and are reset when a peer is
 * lost.
 */
#undef _FILE_OFFSET_BITS	/* with which the function below would not be mmap() */

#define VERBS(X) \
	X(fork_init) X(get_device_list) X(free_device_list) X(open_device) X(close_device) \
	X(query_device) X(query_port) X(alloc_pd) X(dealloc_pd) X(reg_mr) X(dereg_mr) \
	X(create_comp_channel) X(destroy_comp_channel) X(create_cq) X(destroy_cq) X(get_cq_event) \
	X(ack_cq_events) X(modify_srq) X(destroy_srq) X(create_qp) X(modify_qp) X(query_qp) \
	X(destroy_qp) X(get_async_event) X(ack_async_event) X(wc_status_str) X(open_xrc_domain) \
	X(close_xrc_domain) X(create_xrc_srq) X(create_xrc_rcv_qp) X(modify_xrc_rcv_qp) \
	X(reg_xrc_rcv_qp) X(unreg_xrc_rcv_qp)

#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "client.h"

#define BUFFERS 128
#define MESSAGES 40
#define ROUNDS 8		/* of zero copy: each with new memory */
#define ZERO_COPY_SIZE 200000	/* glibc takes as much from mmap */

/* ---- Interposition: registrations are kept until their memory goes ---- */

#define PINNED 4

static struct pinned {
	char *address;
	size_t size;
	struct ibv_mr *mr;
} pinned[PINNED];

void *__libc_malloc(size_t size);
void __libc_free(void *memory);

/* The verb calls free() in turn. */
static void unpin(struct pinned *place)
{
	struct ibv_mr *mr = place->mr;

	place->mr = NULL;
	DO(dereg_mr, mr);
}

static void forget(const char *address, size_t size)
{
	int i;

	for (i = 0; i < PINNED; i++)
		if (pinned[i].mr && address < pinned[i].address + pinned[i].size &&
		    pinned[i].address < address + size)
			unpin(&pinned[i]);
}

void *malloc(size_t size)
{
	return __libc_malloc(size);
}

void free(void *memory)
{
	if (memory)
		forget(memory, malloc_usable_size(memory));
	__libc_free(memory);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
#ifdef SYS_mmap2
	return (void *)syscall(SYS_mmap2, address, size, protection, flags, fd, offset / 4096);
#else
	return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
#endif
}

int munmap(void *address, size_t size)
{
	forget(address, size);
	return (int)syscall(SYS_munmap, address, size);
}

static struct ibv_mr *pin(char *address, size_t size)
{
	struct pinned *place = pinned;

	while (place < pinned + PINNED && place->mr)
		place++;
	if (place == pinned + PINNED)
		job_die("memory went, and neither free() nor munmap() of the program was called");
	place->address = address;
	place->size = size;
	place->mr = VERB(reg_mr)(hca.pd, address, size, IBV_ACCESS_LOCAL_WRITE | hca.access);
	return must(place->mr, "ibv_reg_mr");
}

/* ---- How it finds InfiniBand ---- */

/* MPI_HASIC_IBV=1 skips the question, as there. */
static void find_module(void)
{
	const char *known = getenv("MPI_HASIC_IBV");
	FILE *modules = fopen("/proc/modules", "r");
	char line[512];
	int found = known && !strcmp(known, "1");

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

static struct address {
	uint32_t lid, alternate_lid, snd_qpn, rcv_qpn, srqn;
} mine, addresses[JOB_RANKS_MAX];

static struct ibv_qp *snd_qp;

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
static void connect_all(void)
{
	int peer = job_peer(0);
	struct ibv_qp_attr attr;

	hca_to_init(snd_qp);
	mine.rcv_qpn = hca_create_rcv_qp(addresses[peer].snd_qpn, addresses[peer].lid, 0);
	attr = alternate_path(addresses[peer].alternate_lid);
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = 10;
	must_be_0(VERB(modify_xrc_rcv_qp)(hca.xrc_domain, mine.rcv_qpn, &attr,
					  MASK_RTS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE),
		  "ibv_modify_xrc_rcv_qp to RTS");
	job_gather(&mine, sizeof(mine), addresses);
	DO(reg_xrc_rcv_qp, hca.xrc_domain, addresses[job.rank ^ 1].rcv_qpn);
	hca_to_rtr(snd_qp, addresses[peer].rcv_qpn, addresses[peer].lid, 0);
	hca_to_rts(snd_qp, 10, 0);
	attr = alternate_path(addresses[peer].alternate_lid);
	must_be_0(VERB(modify_qp)(snd_qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE),
		  "ibv_modify_qp to an alternate path");
	job_barrier();
}

static void drop_receive_qps(void)
{
	DO(unreg_xrc_rcv_qp, hca.xrc_domain, mine.rcv_qpn);
	DO(unreg_xrc_rcv_qp, hca.xrc_domain, addresses[job.rank ^ 1].rcv_qpn);
	job_barrier();
}

/* ---- Data ---- */

static void take_event(struct ibv_async_event *event)
{
	int flag = (event->event_type & IBV_XRC_QP_EVENT_FLAG) != 0;
	int type = (int)(event->event_type & ~IBV_XRC_QP_EVENT_FLAG);

	if (type != IBV_EVENT_COMM_EST && type != IBV_EVENT_PATH_MIG)
		job_die("got %sevent %d", flag ? "XRC " : "", type);
	if (!flag && event->element.qp != snd_qp)
		job_die("event %d of an unknown QP", type);
}

static struct ibv_qp *prepare(int rank, unsigned queue, struct ibv_send_wr *wr)
{
	(void)queue;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (wr->opcode == IBV_WR_SEND && wr->sg_list->length <= 128)
		wr->send_flags |= IBV_SEND_INLINE;
	wr->xrc_remote_srq_num = addresses[rank].srqn;
	return snd_qp;
}

static const struct data data = {
	.messages = MESSAGES, .queues = 1, .size = 2048, .short_size = 64,
	.prepare = prepare, .progress = data_progress,
};

/* A request and its completion, on a QP that does nothing else. */
static enum ibv_wc_status execute(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int count;

	wr->send_flags = IBV_SEND_SIGNALED;
	wr->num_sge = 1;
	must_be_0(ibv_post_send(snd_qp, wr, &bad), "ibv_post_send");
	while (!(count = ibv_poll_cq(hca.cq, 1, &wc)))
		job_idle();
	if (count < 0)
		job_die("ibv_poll_cq returned %d", count);
	return wc.status;
}

struct remote {
	uint64_t address;
	uint32_t rkey;
};

/* Writes from memory that is new in each round to memory that is new there. */
static void zero_copy(uint32_t round)
{
	int by_malloc = round % 2, peer = job_peer((int)round / 2);
	char *from = malloc(ZERO_COPY_SIZE);
	char *to = by_malloc ? malloc(ZERO_COPY_SIZE) :
			       mmap(NULL, ZERO_COPY_SIZE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct remote all[JOB_RANKS_MAX], own = { (uintptr_t)to, pin(to, ZERO_COPY_SIZE)->rkey };
	struct ibv_sge sge = { (uintptr_t)from, ZERO_COPY_SIZE, pin(from, ZERO_COPY_SIZE)->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .opcode = IBV_WR_RDMA_WRITE };
	uint32_t sequence;

	job_fill(from, ZERO_COPY_SIZE, peer, round);
	job_gather(&own, sizeof(own), all);
	wr.wr.rdma.remote_addr = all[peer].address;
	wr.wr.rdma.rkey = all[peer].rkey;
	wr.xrc_remote_srq_num = addresses[peer].srqn;
	if (execute(&wr) != IBV_WC_SUCCESS)
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

	DO(query_qp, snd_qp, &attr, IBV_QP_PATH_MIG_STATE, &init_attr);
	return attr.path_mig_state;
}

/* Both ends are armed by the messages before. */
static void migrate(void)
{
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };

	if (path_of_sender() != IBV_MIG_ARMED)
		job_die("the alternate path is not armed");
	must_be_0(VERB(modify_qp)(snd_qp, &attr, IBV_QP_PATH_MIG_STATE), "ibv_modify_qp to migrate");
	if (path_of_sender() != IBV_MIG_MIGRATED)
		job_die("the path has not migrated");
}

/* No receive QP is there any more, as if the peer had ended. Resets the QP and connects again. */
static void lose_peer(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_sge sge = { (uintptr_t)data_memory.send[0], 64, hca.mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .opcode = IBV_WR_SEND };

	drop_receive_qps();
	wr.xrc_remote_srq_num = addresses[job_peer(0)].srqn;
	if (execute(&wr) != IBV_WC_RETRY_EXC_ERR)
		job_die("the message to a lost peer did not end with a retry error");
	must_be_0(VERB(modify_qp)(snd_qp, &attr, IBV_QP_STATE), "ibv_modify_qp to RESET");
	job_barrier();
	connect_all();
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

static void start(void)
{
	char file[128];

	open_verbs();
	DO(fork_init);
	hca_open();
	hca.cq = hca_create_cq(1024, hca.channel);
	snprintf(file, sizeof(file), "hpmpi-%c", 'A' + job.host);
	hca_open_domain(file, O_RDWR | O_CREAT);
	hca_reg_mr(&data_memory, sizeof(data_memory));
	data_start(&data);
	pool_start(pools, hca_create_srq(hca.cq, BUFFERS, 0), BUFFERS, BUFFERS, BUFFERS);
	hca_start_events(take_event);
	hca_arm(hca.cq);
	snd_qp = hca_create_qp(hca_qp_attr(128));
	mine = (struct address){ .lid = hca.lid, .alternate_lid = alternate_lid(),
				 .snd_qpn = snd_qp->qp_num, .srqn = pools[0].srq->xrc_srq_num };
	job_gather(&mine, sizeof(mine), addresses);
	connect_all();
}

static void finish(void)
{
	drop_receive_qps();
	job_cancel_thread(hca.event_thread);
	DO(destroy_qp, snd_qp);
	DO(destroy_srq, pools[0].srq);
	DO(destroy_cq, hca.cq);
	hca_close_domain();
	hca_close_channel();
	hca_close();
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
	hca.by_events = job_option(argc, argv, "--event");
	find_module();
	find_card();
	return job_run(2, rank_main);
}
