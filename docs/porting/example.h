/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What before.c and after.c have in common, main() included: everything that is not XRC. The
 * processes use one adapter. Shared memory stands for the network by which a real program
 * exchanges numbers.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <infiniband/verbs.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef TWO_WAY
#define PROCESSES 2
static void send_and_receive(void);
#else
#define PROCESSES 3
static void send_to_all(void);
static void receive(void);
#endif

/* The attributes that any QP needs in each step. */
#define TO_INIT (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define TO_RTR (IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define TO_RTS (IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | \
		IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC)

static struct board { /* the numbers that each process publishes */
	pthread_barrier_t barrier;
	uint32_t srq[PROCESSES], send_qp[PROCESSES], recv_qp[PROCESSES];
} *board;

static int rank; /* number of this process */
static int domain_fd;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct ibv_port_attr port;
static char message[2][64]; /* sent, received */

static inline void need(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

static inline void *pointer(void *result, const char *what)
{
	need(result != NULL, what);
	return result;
}

#define NOT_NULL(call) pointer(call, #call)
#define NO_ERROR(call) need(!(errno = (call)), #call) /* a call that returns 0 or an errno */

/* Returns when every process has called it. */
static inline void wait_for_all(void)
{
	pthread_barrier_wait(&board->barrier);
}

/* All attributes that any step of connecting to QP @peer takes. A mask chooses among them. */
static inline struct ibv_qp_attr connection(uint32_t peer)
{
	struct ibv_qp_attr attr = {
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer,
		.ah_attr = { .dlid = port.lid, .port_num = 1 },
		.max_rd_atomic = 1,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};

	return attr;
}

static inline void post_receive(struct ibv_srq *srq)
{
	struct ibv_sge sge = { (uintptr_t)message[1], sizeof(message[1]), mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	NO_ERROR(ibv_post_srq_recv(srq, &wr, &bad));
}

/* Sends a message to process @to. @wr has the number of its SRQ. */
static inline void post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, int to)
{
	struct ibv_sge sge = { (uintptr_t)message[0], sizeof(message[0]), mr->lkey };
	struct ibv_send_wr *bad;

	snprintf(message[0], sizeof(message[0]), "from %d to %d", rank, to);
	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->opcode = IBV_WR_SEND;
	wr->send_flags = IBV_SEND_SIGNALED;
	NO_ERROR(ibv_post_send(qp, wr, &bad));
}

/* Waits for @count completions. That of a receive must name the QP @recv_qp. */
static inline void complete(int count, uint32_t recv_qp)
{
	struct ibv_wc wc;

	for (int found; count > 0; count -= found) {
		found = ibv_poll_cq(cq, 1, &wc);
		if (!found)
			continue;
		need(found == 1 && wc.status == IBV_WC_SUCCESS, "completion");
		need(!(wc.opcode & IBV_WC_RECV) || wc.qp_num == recv_qp, "wc.qp_num");
	}
}

static inline void open_device(void)
{
	struct ibv_device **list = NOT_NULL(ibv_get_device_list(NULL));

	errno = ENODEV; /* if the list is empty */
	need(list[0] != NULL, "ibv_get_device_list");
	context = NOT_NULL(ibv_open_device(list[0]));
	ibv_free_device_list(list);
	pd = NOT_NULL(ibv_alloc_pd(context));
	cq = NOT_NULL(ibv_create_cq(context, 16, NULL, NULL, 0));
	mr = NOT_NULL(ibv_reg_mr(pd, message, sizeof(message), IBV_ACCESS_LOCAL_WRITE));
	NO_ERROR(ibv_query_port(context, 1, &port));
}

static inline int run_process(void)
{
	alarm(60); /* another process may have failed */
	open_device();
#ifdef TWO_WAY
	send_and_receive();
#else
	if (rank == 0)
		send_to_all();
	else
		receive();
#endif
	NO_ERROR(ibv_dereg_mr(mr));
	NO_ERROR(ibv_destroy_cq(cq));
	NO_ERROR(ibv_dealloc_pd(pd));
	NO_ERROR(ibv_close_device(context));
	printf("process %d received: %s\n", rank, message[1]);
	return 0;
}

int main(void)
{
	pthread_barrierattr_t shared;
	int status, failed = 0;

	domain_fd = fileno(NOT_NULL(tmpfile()));
	board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(board != MAP_FAILED, "mmap");
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&board->barrier, &shared, PROCESSES);
	while (rank < PROCESSES && fork())
		rank++;
	if (rank < PROCESSES)
		return run_process();
	while (wait(&status) > 0)
		failed |= status;
	puts(failed ? "failed" : "all right");
	return failed != 0;
}

#endif
