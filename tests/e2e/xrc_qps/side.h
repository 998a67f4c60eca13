/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * One side of a connection: an XRC domain, an XRC SRQ and one XRC QP. In two-way programs as qperf
 * and MVAPICH 1 the QP also receives. A call that fails ends the row.
 */
#ifndef TESTS_E2E_XRC_QPS_SIDE_H
#define TESTS_E2E_XRC_QPS_SIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

#include "../mask_to.h"

#define SIDE_MEMORY (1u << 20)
#define SIDE_DEPTH 128
#define SIDE_PSN 0xfffff0u	/* wraps round after 16 packets */
#define SIDE_ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

/* Each side tells these to the other. Only RDMA and atomics need rkey and memory. */
struct address {
	uint32_t lid, qp_num, psn, srq_num;
	uint32_t rkey;
	uint64_t memory;
};

struct side {
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

/* Opens all but the QP, on the device of that number; @fd -1: a private domain. */
void side_open(struct side *side, int device, int fd, bool event_mode);

/* The same, and not the SRQ. */
void side_open_without_srq(struct side *side, int device, int fd, bool event_mode);

/* Opens all but the SRQ and the QP, on an opened device. */
void side_use(struct side *side, struct ibv_context *context, int fd, bool event_mode);
void side_create_srq(struct side *side);

/* @max_send_wr 0: the QP only receives. side_destroy_qp() destroys it, if there is one. */
void side_create_qp(struct side *side, uint32_t max_send_wr);
void side_destroy_qp(struct side *side);

/* Returns the attributes of an old program for that transition, with RC's full mask. */
struct ibv_qp_attr side_attr(const struct side *side, enum ibv_qp_state state, int *mask);

/*
 * side_modify() makes a transition with the attributes of side_attr(), side_modify_state() with the
 * state only. Both return the result of ibv_modify_qp.
 */
int side_modify(struct side *side, enum ibv_qp_state state);
int side_modify_state(struct side *side, enum ibv_qp_state state);

/* Brings the QP from RESET through all states up to @state. */
void side_bring(struct side *side, enum ibv_qp_state state);

/* Returns the state that ibv_query_qp returns. */
enum ibv_qp_state side_state(struct side *side);

void side_post_recv(struct side *side, uint64_t wr_id, uint32_t offset, uint32_t length);

/*
 * Returns a signalled work request from a part of its memory to the same part of the peer's. Keep
 * @sge until it is posted.
 */
struct ibv_send_wr side_wr(const struct side *side, struct ibv_sge *sge, enum ibv_wr_opcode opcode,
			   uint32_t offset, uint32_t length);
void side_post(struct side *side, struct ibv_send_wr *wr);
void side_send(struct side *side, enum ibv_wr_opcode opcode, uint32_t offset, uint32_t length);

/* Posts an RDMA with a key that the peer does not have. */
void side_post_wrong_key(struct side *side, enum ibv_wr_opcode opcode);

/*
 * Returns the next completion; the row fails if none comes. Waits for an event first in event mode.
 */
struct ibv_wc side_poll(struct side *side);

/* The row fails if a completion comes within 20 ms. */
void side_no_completion(struct side *side);

/*
 * Returns the next async event; the row fails if none comes. With side_no_event() the row fails if
 * one comes within @milliseconds.
 */
struct ibv_async_event side_event(struct side *side);
void side_no_event(struct side *side, int milliseconds);

/* Destroys all objects of an open side; each verb must return 0. */
void side_close(struct side *side);

/* These are pthread_create() and pthread_join(). join_thread() returns the thread's result. */
pthread_t start_thread(void *(*run)(void *), void *arg);
void *join_thread(pthread_t thread);

/* Returns the descriptor of an unlinked file. Processes that inherit it share its domain. */
int shared_file(void);

/* ---- emulator.c ---- */

/* Runs `softhca ctl WHAT DEVICE WORD...`; the last word is NULL. */
void softhca_ctl(const char *what, int device, ...);

/* Raises an async event on a device's object, named as by `softhca ctl event`. */
void inject_event(int device, const char *event, uint32_t number);

/* Returns the number of the hidden target of an emulated adapter's two-way QP. */
uint32_t hidden_target_number(uint32_t qp_num);

#endif
