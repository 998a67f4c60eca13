/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Open MPI: what the files of the openib BTL share. */
#ifndef TESTS_LEGACY_CLIENTS_OPENMPI_H
#define TESTS_LEGACY_CLIENTS_OPENMPI_H

#include <pthread.h>
#include <infiniband/verbs.h>

#include "data.h"

#define QUEUES DATA_QUEUES	/* receive_queues X,...:X,... */
#define RD_NUM 64		/* receive buffers of a queue */
#define RD_INIT 16		/* posted at first; more after each limit event */
#define RD_LOW 2
#define SRQ_LIMIT 8
#define SD_MAX SENDS

/* One X queue. */
struct queue {
	struct ibv_srq *srq;
	pthread_mutex_t lock;
	unsigned posted, wanted;
	unsigned free[RD_NUM], free_count;	/* fragments that are not posted */
	int limit_events;
};

/* The remote port, which all endpoints of a host share. */
enum ib_addr_status {
	IB_ADDR_CLOSED,
	IB_ADDR_CONNECTING,
	IB_ADDR_CONNECTED
};

struct ib_addr {
	enum ib_addr_status status;
	struct ibv_qp *qp;
	uint32_t psn, remote_xrc_rcv_qp_num;
};

struct endpoint {
	enum { ENDPOINT_CLOSED, ENDPOINT_WAITING, ENDPOINT_CONNECTED } state;
	uint32_t rem_srqs[QUEUES];
	/* where it sends to us: created or registered here; 0 for none */
	uint32_t xrc_recv_qp_num;
};

struct device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq[QUEUES];	/* high priority, low priority: that of the sends too */
	struct ibv_xrc_domain *xrc_domain;
	struct queue queues[QUEUES];
	uint32_t lid;
	uint32_t max_inline_data;
};

extern struct device device;
extern struct endpoint endpoints[JOB_RANKS_MAX];

/* The CPC: connections. */
void xoob_start_connect(int rank);
void xoob_progress(void);
struct ib_addr *xoob_addr(int rank);
/* Unregisters from the receive QP for that rank's messages. */
void xoob_drop_recv_qp(int rank);
void xoob_finalize(void);
extern unsigned xoob_gone;	/* how often the other side answered that it has no receive QP */

/* The thread for asynchronous events. */
void async_start(void);
void async_stop(void);

/* Posts the receives that are missing, if @force or if few are left. */
void post_srr(int queue, int force);

#endif
