/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What all parallel programs here send: numbered messages to each rank of the other host. RDMA
 * precedes the last messages. struct data has what differs between clients: the work requests, the
 * QPs, and the use of a completion.
 */
#ifndef TESTS_LEGACY_CLIENTS_DATA_H
#define TESTS_LEGACY_CLIENTS_DATA_H

#include <infiniband/verbs.h>

#include "hca.h"
#include "job.h"

#define SENDS 16		/* in flight */
#define DATA_QUEUES 2		/* at most: SRQs of a rank */
#define DATA_BUFFERS 128	/* of each */
#define DATA_SIZE 2048
#define DATA_RDMA_SIZE 10000

struct data {
	unsigned messages;	/* on each queue, to each rank of the other host */
	unsigned queues;	/* those on which data_exchange() sends */
	uint32_t size, short_size;	/* of messages; each third one is short */
	int gets;		/* whether it reads by RDMA, too */
	int filler;		/* the bytes of a work request that the client does not set */

	/* Called before each message to that rank, or NULL. */
	void (*ready)(int rank);
	/*
	 * Sets send_flags and the SRQ's number, and the rest if it wants to. Returns the QP. On
	 * entry imm_data is the message's number.
	 */
	struct ibv_qp *(*prepare)(int rank, unsigned queue, struct ibv_send_wr *wr);
	/* The message in this buffer is verified. */
	void (*take_buffer)(unsigned queue, unsigned slot);
	/* Then sees the message's completion, or NULL. */
	void (*take_message)(int from, unsigned queue, const struct ibv_wc *wc);
	/* Polls and waits for send completions; wait for receptions, or NULL for the same. */
	void (*progress)(void);
	void (*wait)(void);
};

extern struct data_memory {
	struct {
		char receive[DATA_QUEUES][DATA_BUFFERS][DATA_SIZE];
		char send[SENDS][DATA_SIZE];
		char put_from[JOB_RANKS_MAX][DATA_RDMA_SIZE];
		char get_to[JOB_RANKS_MAX][DATA_RDMA_SIZE];
	} local;
	struct {
		char put_to[JOB_RANKS_MAX][DATA_RDMA_SIZE];
		char get_from[JOB_RANKS_MAX][DATA_RDMA_SIZE];
	} remote;	/* for RDMA of other ranks */
} data_memory;

/* With the keys of the memory, which is registered. All ranks call it: it is a barrier. */
void data_start(const struct data *data, uint32_t lkey, uint32_t rkey);
void data_post_recv(struct ibv_srq *srq, unsigned queue, unsigned slot);
void data_send(int rank, unsigned queue);
void data_complete(const struct ibv_wc *wc);
/* How many messages have come from that rank. */
unsigned data_received(unsigned queue, int rank);
/* Waits until all messages have come on that queue, and all sends are completed. */
void data_await(unsigned queue);
/* Sends all messages, waits for those of the others, and verifies the RDMA. */
void data_exchange(void);

/* Returns whether there was a completion. */
static inline int data_poll(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	if (!hca_poll_cq(cq, &wc))
		return 0;
	data_complete(&wc);
	return 1;
}

/* Without a completion, waits for an event of the channel, or for a moment if that is NULL. */
static inline void data_progress(struct ibv_cq *cq, struct ibv_comp_channel *channel)
{
	if (data_poll(cq))
		return;
	if (channel)
		hca_wait_for_event(channel);
	else
		job_idle();
}

#endif
