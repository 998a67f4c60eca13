/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the programs before and after porting have in common: processes on one adapter, a sender and
 * its receivers, and the board on which they write down what the others have to know. A real
 * program sends that over a network.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <infiniband/verbs.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef RECEIVERS
#define RECEIVERS 2
#endif
#define PORT 1
#define MESSAGE_SIZE 64

struct board {
	pthread_barrier_t barrier;
	uint32_t srq_num[RECEIVERS];
	uint32_t recv_qp;	/* number of the receive QP, which both receivers share */
	uint32_t send_qp;
	struct numbers {	/* where both processes send and receive: of each of them */
		uint32_t srq_num, send_qp, recv_qp;
	} numbers[2];
};

/* What every process opens for itself. */
struct side {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	uint16_t lid;
	char message[2][MESSAGE_SIZE];
};

static inline void need(int good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static inline void open_side(struct side *side)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	alarm(60); /* should another process fail, this one is not to wait for it for ever */
	need(list && list[0], "no device");
	side->context = ibv_open_device(list[0]);
	need(side->context != NULL, "ibv_open_device");
	ibv_free_device_list(list);
	side->pd = ibv_alloc_pd(side->context);
	side->cq = ibv_create_cq(side->context, 16, NULL, NULL, 0);
	need(side->pd && side->cq, "ibv_alloc_pd, ibv_create_cq");
	side->mr =
		ibv_reg_mr(side->pd, side->message, sizeof(side->message), IBV_ACCESS_LOCAL_WRITE);
	need(side->mr && !ibv_query_port(side->context, PORT, &port), "ibv_reg_mr, ibv_query_port");
	side->lid = port.lid;
}

static inline void close_side(struct side *side)
{
	need(!ibv_dereg_mr(side->mr) && !ibv_destroy_cq(side->cq), "ibv_dereg_mr, ibv_destroy_cq");
	need(!ibv_dealloc_pd(side->pd) && !ibv_close_device(side->context),
	     "ibv_dealloc_pd, ibv_close_device");
}

/*
 * All attributes that any step of connecting to QP @peer takes; the mask says which of them are
 * meant.
 */
static inline struct ibv_qp_attr connection(const struct side *side, enum ibv_qp_state state,
					    uint32_t peer)
{
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.qp_state = state;
	attr.port_num = PORT;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = peer;
	attr.ah_attr.dlid = side->lid;
	attr.ah_attr.port_num = PORT;
	attr.max_rd_atomic = 1;
	attr.max_dest_rd_atomic = 1;
	attr.min_rnr_timer = 12;
	attr.timeout = 14;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	return attr;
}

static inline void wait_completion(const struct side *side, struct ibv_wc *wc)
{
	int count;

	while (!(count = ibv_poll_cq(side->cq, 1, wc)))
		;
	need(count == 1 && wc->status == IBV_WC_SUCCESS, "completion");
}

/* The processes do these things in step; each file says how. */
void sender(struct side *side, struct board *board, const char *domain_file);
void receiver(struct side *side, struct board *board, const char *domain_file, int number);

static inline int run_process(struct board *board, const char *domain_file, int number)
{
	static struct side side;

	open_side(&side);
	if (number == RECEIVERS)
		sender(&side, board, domain_file);
	else
		receiver(&side, board, domain_file, number);
	close_side(&side);
	return 0;
}

static inline int run_example(void)
{
	char domain_file[] = "/tmp/xrc-example.XXXXXX";
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;
	int status, failed = 0;

	need(board != MAP_FAILED && close(mkstemp(domain_file)) == 0, "preparing");
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&board->barrier, &shared, RECEIVERS + 1);
	fflush(stdout);
	for (int number = 0; number <= RECEIVERS; number++) {
		if (!fork())
			exit(run_process(board, domain_file, number));
	}
	while (wait(&status) > 0)
		failed |= status;
	unlink(domain_file);
	printf("%s\n", failed ? "failed" : "all right");
	return failed ? 1 : 0;
}

#endif
