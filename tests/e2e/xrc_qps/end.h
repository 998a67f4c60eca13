/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One end of a connection: an XRC domain, an XRC SRQ and one XRC QP, which also receives in two-way
 * programs as qperf and MVAPICH 1. A call that fails ends the row.
 */
#ifndef TESTS_E2E_XRC_QPS_END_H
#define TESTS_E2E_XRC_QPS_END_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "../../rc_masks.h"

#define END_MEMORY (1u << 20)
#define END_DEPTH 128
#define END_PSN 0xfffff0u	/* wraps round after 16 packets */
#define END_ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

/* Each end tells these to the other. Only RDMA and atomics need rkey and memory. */
struct address {
	uint32_t lid, qp_num, psn, srq_num;
	uint32_t rkey;
	uint64_t memory;
};

struct end {
	bool event_mode;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_xrc_domain *domain;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_srq *srq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *memory;
	struct address own;
	struct address peer;
};

/** end_open - all but the QP, on the device of that number; @fd -1: a private domain. */
void end_open(struct end *end, int device, int fd, bool event_mode);
void end_open_without_srq(struct end *end, int device, int fd, bool event_mode);

/** end_use - all but the SRQ and the QP, on an opened device. */
void end_use(struct end *end, struct ibv_context *context, int fd, bool event_mode);
void end_create_srq(struct end *end);

/** end_create_qp - @max_send_wr 0: receive-only. end_destroy_qp - if the end has one. */
void end_create_qp(struct end *end, uint32_t max_send_wr);
void end_destroy_qp(struct end *end);

/** end_attr - the attributes of an old program for that transition, with RC's full mask. */
struct ibv_qp_attr end_attr(const struct end *end, enum ibv_qp_state state, int *mask);

/**
 * end_modify - one transition with the attributes of end_attr(); end_modify_state - with the state
 * only. Both return the result of ibv_modify_qp.
 */
int end_modify(struct end *end, enum ibv_qp_state state);
int end_modify_state(struct end *end, enum ibv_qp_state state);

/** end_bring - from RESET, through all states up to @state. */
void end_bring(struct end *end, enum ibv_qp_state state);

/** end_state - the state that ibv_query_qp returns. */
enum ibv_qp_state end_state(struct end *end);

void end_post_recv(struct end *end, uint64_t wr_id, uint32_t offset, uint32_t length);

/**
 * end_wr - a signalled work request from a part of the end's memory to the same part of the peer's.
 * Keep @sge until it is posted.
 */
struct ibv_send_wr end_wr(const struct end *end, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
			  uint32_t offset, uint32_t length);
void end_post(struct end *end, struct ibv_send_wr *wr);
void end_send(struct end *end, enum ibv_wr_opcode opcode, uint32_t offset, uint32_t length);

/** end_post_wrong_key - RDMA with a key that the peer does not have. */
void end_post_wrong_key(struct end *end, enum ibv_wr_opcode opcode);

/**
 * end_poll - the next completion; the row fails if none comes. Waits for an event first in event
 * mode.
 */
struct ibv_wc end_poll(struct end *end);

/** end_no_completion - no completion for 20 ms. */
void end_no_completion(struct end *end);

/**
 * end_event - the next async event; the row fails if none comes. end_no_event - there is none for
 * @milliseconds.
 */
struct ibv_async_event end_event(struct end *end);
void end_no_event(struct end *end, int milliseconds);

/** end_close - destroys all objects of an open end; each verb must return 0. */
void end_close(struct end *end);

/** start_thread, join_thread - as pthread_create() and pthread_join(); returns the result. */
pthread_t start_thread(void *(*run)(void *), void *arg);
void *join_thread(pthread_t thread);

/** shared_file - descriptor of an unlinked file. Processes that inherit it share its domain. */
int shared_file(void);

/** softhca_ctl - `softhca ctl WHAT DEVICE WORD...`; the last word is NULL. */
void softhca_ctl(const char *what, int device, ...);

/** inject_event - raises an async event on a device's object, named as by `softhca ctl event`. */
void inject_event(int device, const char *event, uint32_t number);

/** hidden_target_number - the number of the hidden target of an emulated adapter's two-way QP. */
uint32_t hidden_target_number(uint32_t qp_num);

#endif
