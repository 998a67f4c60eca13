/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What the clients share: the device of the job's host, the steps of a QP, and the messages.
 *
 * These functions are inline: MVAPICH2 is also built so that it looks the verbs up. No function
 * here uses both an XRC QP and a receive QP: if a program refers to a function of receive QPs, the
 * library takes it for a one-way program.
 */
#ifndef TESTS_LEGACY_CLIENTS_CLIENT_H
#define TESTS_LEGACY_CLIENTS_CLIENT_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "../../../abi/rc_masks.h"
#include "job.h"

#ifdef VERBS	/* a program that looks its verbs up defines it as their list */
static struct {
#define X(name) __typeof__(ibv_##name) *name;
	VERBS(X)
#undef X
} verbs;
#define VERB(name) verbs.name
#else
#define VERB(name) ibv_##name
#endif

/* A verb that returns 0, and one that returns a pointer: if it fails, the process ends. */
#define DO(verb, ...) must_be_0(VERB(verb)(__VA_ARGS__), "ibv_" #verb)
#define MAKE(verb, ...) must(VERB(verb)(__VA_ARGS__), "ibv_" #verb)

#define SENDS 16		/* in flight */
#define DATA_QUEUES 2		/* at most: SRQs of a rank */
#define DATA_BUFFERS 128	/* of each */
#define DATA_SIZE 2048
#define DATA_RDMA_SIZE 10000

extern struct hca {
	int rail;	/* 0: the device of the host; a client with several cards opens the next */
	struct ibv_context *context;
	struct ibv_pd *pd;
	int by_events;				/* whether it waits for completion events */
	struct ibv_comp_channel *channel;	/* NULL for a client that polls */
	struct ibv_cq *cq;			/* of sends, at least */
	struct ibv_mr *mr;
	struct ibv_xrc_domain *xrc_domain;
	int domain_fd;		/* -1 for a private domain */
	pthread_t event_thread;
	void (*take_event)(struct ibv_async_event *event);
	uint32_t lid;
	uint8_t path_port;	/* port_num of paths */
	int access;		/* of remote QPs */
	int filler;		/* of attributes and requests that the client does not set */
} hca;

/* Whole pages: with fork safety a child lacks every page of it. */
extern struct data_memory {
	char receive[DATA_QUEUES][DATA_BUFFERS][DATA_SIZE];
	char send[SENDS][DATA_SIZE];
	char put_from[JOB_RANKS_MAX][DATA_RDMA_SIZE];
	char put_to[JOB_RANKS_MAX][DATA_RDMA_SIZE];
	char get_from[JOB_RANKS_MAX][DATA_RDMA_SIZE];
	char get_to[JOB_RANKS_MAX][DATA_RDMA_SIZE];
} __attribute__((aligned(4096))) data_memory;

/* ---- Start and end ---- */

/* Ends the process if this host has no device. */
static inline void hca_open_device(void)
{
	struct ibv_port_attr port;
	struct ibv_device **list;
	int count = 0;

	list = MAKE(get_device_list, &count);
	if (count < JOB_HOSTS)
		job_die("%d devices, but one is needed for each host", count);
	hca.context = MAKE(open_device, list[(job.host + hca.rail) % count]);
	VERB(free_device_list)(list);
	DO(query_port, hca.context, 1, &port);
	hca.lid = port.lid;
}

static inline void hca_alloc_pd(void)
{
	hca.pd = MAKE(alloc_pd, hca.context);
	if (hca.by_events)
		hca.channel = MAKE(create_comp_channel, hca.context);
}

/* Checks IBV_DEVICE_XRC, as programs of that time did. */
static inline void hca_open(void)
{
	struct ibv_device_attr attr;

	hca_open_device();
	DO(query_device, hca.context, &attr);
	if (!(attr.device_cap_flags & IBV_DEVICE_XRC))
		job_die("the device has no XRC");
	hca_alloc_pd();
}

static inline struct ibv_cq *hca_create_cq(int size, struct ibv_comp_channel *channel)
{
	return MAKE(create_cq, hca.context, size, NULL, channel, 0);
}

static inline void hca_arm(struct ibv_cq *cq)
{
	if (hca.channel)
		must_be_0(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
}

/* Opens @file, and the domain that belongs to it. */
static inline void hca_open_domain(const char *file, int flags)
{
	hca.domain_fd = open(file, flags, 0600);
	if (hca.domain_fd < 0)
		job_die("%s: %s", file, strerror(errno));
	hca.xrc_domain = MAKE(open_xrc_domain, hca.context, hca.domain_fd, O_CREAT);
}

static inline void hca_reg_mr(void *memory, size_t size)
{
	hca.mr = MAKE(reg_mr, hca.pd, memory, size, IBV_ACCESS_LOCAL_WRITE | hca.access);
}

static inline struct ibv_srq *hca_create_srq(struct ibv_cq *cq, uint32_t max_wr, uint32_t limit)
{
	struct ibv_srq_init_attr attr;
	struct ibv_srq *srq;

	memset(&attr, hca.filler, sizeof(attr));
	attr.srq_context = hca.context;
	attr.attr.max_wr = max_wr;
	attr.attr.max_sge = 1;
	attr.attr.srq_limit = limit;	/* without meaning at creation */
	srq = MAKE(create_xrc_srq, hca.pd, hca.xrc_domain, cq, &attr);
	if (!srq->xrc_srq_num)
		job_die("xrc_srq_num is 0");
	return srq;
}

static inline void hca_arm_limit(struct ibv_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	DO(modify_srq, srq, &attr, IBV_SRQ_LIMIT);
}

static inline void hca_close_domain(void)
{
	DO(close_xrc_domain, hca.xrc_domain);
	if (hca.domain_fd >= 0)
		must_be_0(close(hca.domain_fd), "close");
}

static inline void hca_close_channel(void)
{
	if (hca.channel)
		DO(destroy_comp_channel, hca.channel);
}

static inline void hca_close(void)
{
	DO(dereg_mr, hca.mr);
	DO(dealloc_pd, hca.pd);
	DO(close_device, hca.context);
}

static inline void hca_close_all(void)
{
	hca_close_domain();
	hca_close_channel();
	hca_close();
}

/* With --event the processes wait for completion events. */
static inline int client_main(int argc, char **argv, int ranks_per_host, int (*rank_main)(void))
{
	hca.by_events = job_option(argc, argv, "--event");
	return job_run(ranks_per_host, rank_main);
}

/* ---- QPs and receive QPs. All masks are the full ones of RC. ---- */

static inline struct ibv_qp_init_attr hca_qp_attr(uint32_t max_inline_data)
{
	struct ibv_qp_init_attr attr;

	memset(&attr, hca.filler, sizeof(attr));
	attr.send_cq = attr.recv_cq = hca.cq;
	attr.srq = NULL;
	attr.cap.max_send_wr = SENDS;
	attr.cap.max_send_sge = 1;
	attr.cap.max_recv_wr = 0;
	attr.cap.max_recv_sge = 1;
	attr.cap.max_inline_data = max_inline_data;
	attr.qp_type = IBV_QPT_XRC;
	attr.xrc_domain = hca.xrc_domain;
	return attr;
}

static inline struct ibv_qp *hca_create_qp(struct ibv_qp_init_attr attr)
{
	uint32_t wanted = attr.cap.max_inline_data;
	struct ibv_qp *qp = MAKE(create_qp, hca.pd, &attr);

	if (attr.cap.max_inline_data < wanted)
		job_die("inline truncated to %u", attr.cap.max_inline_data);
	return qp;
}

static inline struct ibv_qp_attr hca_init_attr(void)
{
	struct ibv_qp_attr attr;

	memset(&attr, hca.filler, sizeof(attr));
	attr.qp_state = IBV_QPS_INIT;
	attr.pkey_index = 0;
	attr.port_num = 1;
	attr.qp_access_flags = hca.access;
	return attr;
}

static inline struct ibv_qp_attr hca_rtr_attr(uint32_t dest_qpn, uint32_t lid, uint32_t psn)
{
	struct ibv_qp_attr attr;

	memset(&attr, hca.filler, sizeof(attr));
	attr.qp_state = IBV_QPS_RTR;
	attr.path_mtu = IBV_MTU_1024;
	attr.dest_qp_num = dest_qpn;
	attr.rq_psn = psn;
	attr.max_dest_rd_atomic = 4;
	attr.min_rnr_timer = 12;
	memset(&attr.ah_attr, 0, sizeof(attr.ah_attr));
	attr.ah_attr.dlid = (uint16_t)lid;
	attr.ah_attr.port_num = hca.path_port;
	return attr;
}

static inline void hca_to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = hca_init_attr();

	must_be_0(VERB(modify_qp)(qp, &attr, MASK_INIT), "ibv_modify_qp to INIT");
}

static inline void hca_to_rtr(struct ibv_qp *qp, uint32_t dest_qpn, uint32_t lid, uint32_t psn)
{
	struct ibv_qp_attr attr = hca_rtr_attr(dest_qpn, lid, psn);

	must_be_0(VERB(modify_qp)(qp, &attr, MASK_RTR), "ibv_modify_qp to RTR");
}

static inline void hca_to_rts(struct ibv_qp *qp, uint8_t timeout, uint32_t psn)
{
	struct ibv_qp_attr attr;

	memset(&attr, hca.filler, sizeof(attr));
	attr.qp_state = IBV_QPS_RTS;
	attr.timeout = timeout;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.sq_psn = psn;
	attr.max_rd_atomic = 4;
	must_be_0(VERB(modify_qp)(qp, &attr, MASK_RTS), "ibv_modify_qp to RTS");
}

/* Creates a receive QP in RTR, where it stays: no caller takes it to RTS. */
static inline uint32_t hca_create_rcv_qp(uint32_t dest_qpn, uint32_t lid, uint32_t psn)
{
	struct ibv_qp_init_attr init_attr = { .xrc_domain = hca.xrc_domain };
	struct ibv_qp_attr attr = hca_init_attr();
	uint32_t qpn;

	DO(create_xrc_rcv_qp, &init_attr, &qpn);
	must_be_0(VERB(modify_xrc_rcv_qp)(hca.xrc_domain, qpn, &attr, MASK_INIT),
		  "ibv_modify_xrc_rcv_qp to INIT");
	attr = hca_rtr_attr(dest_qpn, lid, psn);
	must_be_0(VERB(modify_xrc_rcv_qp)(hca.xrc_domain, qpn, &attr, MASK_RTR),
		  "ibv_modify_xrc_rcv_qp to RTR");
	return qpn;
}

/* ---- Events and completions ---- */

/*
 * The event threads of MVAPICH and MVAPICH2, which are cancelled asynchronously while they wait in
 * ibv_get_async_event. Theirs could be cancelled anywhere, even with a lock held; that mistake is
 * left out.
 */
static inline void *hca_event_main(void *arg)
{
	struct ibv_async_event event;
	int state;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	while (!VERB(get_async_event)(hca.context, &event)) {
		pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
		hca.take_event(&event);
		VERB(ack_async_event)(&event);
		pthread_setcancelstate(state, NULL);
	}
	job_die("ibv_get_async_event: %s", strerror(errno));
	return arg;
}

static inline void hca_start_events(void (*take_event)(struct ibv_async_event *event))
{
	hca.take_event = take_event;
	must_be_0(pthread_create(&hca.event_thread, NULL, hca_event_main, NULL), "pthread_create");
}

/* Waits for an event of the channel, acknowledges it, arms its CQ again and returns the CQ. */
static inline struct ibv_cq *hca_wait_for_event(void)
{
	struct ibv_cq *cq;
	void *context;

	DO(get_cq_event, hca.channel, &cq, &context);
	VERB(ack_cq_events)(cq, 1);
	must_be_0(ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	return cq;
}

/* ---- Messages: numbered, to each rank of the other host. RDMA precedes the last message. ---- */

struct data {
	unsigned messages;	/* on each queue, to each rank of the other host */
	unsigned queues;	/* those on which data_exchange() sends */
	uint32_t size, short_size;	/* of messages; each third one is short */

	/* Called before each message to that rank, or NULL. */
	void (*ready)(int rank);
	/*
	 * Sets send_flags and the SRQ's number, and the rest if it wants to. Returns the QP. On
	 * entry imm_data is the message's number.
	 */
	struct ibv_qp *(*prepare)(int rank, unsigned queue, struct ibv_send_wr *wr);
	/* Sees the completion of a message that is verified, or NULL. */
	void (*take_message)(int from, unsigned queue, const struct ibv_wc *wc);
	/* Polls and waits for send completions; wait for receptions, or NULL for the same. */
	void (*progress)(void);
	void (*wait)(void);
};

/* Called by all ranks after hca_reg_mr() of data_memory. It is a barrier. */
void data_start(const struct data *data);
void data_send(int rank, unsigned queue);
void data_complete(const struct ibv_wc *wc);
/* How many messages have come from that rank. */
unsigned data_received(unsigned queue, int rank);
/* Waits until all messages have come on that queue, and all sends are completed. */
void data_await(unsigned queue);
/* Sends all messages, waits for those of the others, and verifies the RDMA. */
void data_exchange(void);

/* An SRQ and its receive buffers. */
extern struct pool {
	struct ibv_srq *srq;
	pthread_mutex_t lock;
	unsigned posted, wanted;
	unsigned low;	/* when no more than this are posted, the pool posts up to wanted */
	unsigned free[DATA_BUFFERS], free_count;
	int limit_events;
} pools[DATA_QUEUES];

/* Called after data_start(). */
void pool_start(struct pool *pool, struct ibv_srq *srq, unsigned size, unsigned wanted,
		unsigned low);
/* Posts up to wanted. The caller holds the lock. */
void pool_post(struct pool *pool);
/* Counts the event. Finds the SRQ by the pointer that ibv_create_xrc_srq returned. */
struct pool *pool_at_limit(const struct ibv_srq *srq);
void pool_await_limits(void);

/* Takes one completion, which must be a success. Returns whether there was one. */
static inline int data_poll(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int count = ibv_poll_cq(cq, 1, &wc);

	if (count < 0)
		job_die("ibv_poll_cq returned %d", count);
	if (count && wc.status != IBV_WC_SUCCESS)
		job_die("wr_id 0x%llx: %s", (unsigned long long)wc.wr_id,
			VERB(wc_status_str)(wc.status));
	if (count)
		data_complete(&wc);
	return count;
}

/* Without a completion, waits for an event of the channel, or for a moment if that is NULL. */
static inline void data_progress(void)
{
	if (data_poll(hca.cq))
		return;
	if (hca.channel)
		hca_wait_for_event();
	else
		job_idle();
}

#endif
