/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Today's rdma-core, as the rest of the library sees it.
 *
 * Only modern/ calls a verb. Every function here returns 0 or a negative errno, whatever convention the verb itself
 * has, and leaves its out-parameters alone on failure. A provider that has no such operation gives -EOPNOTSUPP.
 */
#ifndef MODERN_MODERN_H
#define MODERN_MODERN_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

/**
 * modern_load - find the program's own libibverbs.so.1 and every function used of it. Idempotent, thread-safe.
 * Returns 0, or -ENOSYS when there is no libibverbs.so.1 or it lacks one of the functions (modern_missing() names it).
 */
int modern_load(void);

/** modern_library_path - the file modern_load() found, links resolved; "" before that. */
const char *modern_library_path(void);

/** modern_missing - what modern_load() failed on: a library or function name; "" if it did not fail. */
const char *modern_missing(void);

/** modern_older - the function of that name in the node IBVERBS_1.0 of the program's libibverbs.so.1; NULL: there is none. */
void *modern_older(const char *name);

/* Domains. oflag: O_CREAT and O_EXCL count; fd -1 opens a private one. Errors: kernel ib_uverbs_open_xrcd. */
int modern_open_xrcd(struct ibv_context *context, int fd, int oflag, struct ibv_xrcd **xrcd);
int modern_close_xrcd(struct ibv_xrcd *xrcd);

/* XRC shared receive queues. attr->attr is updated with what was allocated; *srq_num is the 24-bit number for senders. */
int modern_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrcd *xrcd, struct ibv_cq *cq, struct ibv_srq_init_attr *attr,
			  struct ibv_srq **srq, uint32_t *srq_num);
int modern_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int modern_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int modern_destroy_srq(struct ibv_srq *srq);
/** modern_pass_destroy_srq - the same with result and errno as the verb has them. */
int modern_pass_destroy_srq(struct ibv_srq *srq);

/**
 * enum modern_tgt_use - what a handle on a target QP is for. It is stored in the handle itself, because the kernel may raise
 * an event on a handle before any table of ours has it.
 */
enum modern_tgt_use {
	MODERN_TGT_NONE,	/* not a handle of ours */
	MODERN_TGT_REGISTERED,	/* a registration: its events are the application's */
	MODERN_TGT_TRANSIENT,	/* opened for one modify or query: its events are nobody's */
	MODERN_TGT_PAIRED,	/* the hidden half of a two-way QP: its events are the visible half's */
};

enum modern_tgt_use modern_tgt_use(const struct ibv_qp *qp);

/*
 * Target QPs (XRC_RECV). open gives another handle on a QP that exists in the domain, else -EINVAL; -EOPNOTSUPP where the kernel
 * lets no QP be opened (Linux before 5.11 with qedr).
 */
int modern_create_tgt_qp(struct ibv_context *context, struct ibv_xrcd *xrcd, enum modern_tgt_use use,
			 struct ibv_qp **qp);
int modern_open_tgt_qp(struct ibv_xrcd *xrcd, uint32_t qp_num, enum modern_tgt_use use, struct ibv_qp **qp);

/** modern_tags_tgt_qps - whether the device sets bit 23 of the number of every target QP, and of no other: mlx4. */
bool modern_tags_tgt_qps(struct ibv_context *context);

/* Initiator QPs (XRC_SEND). attr->cap is updated with what was allocated; its qp_type and srq are ignored. */
int modern_create_ini_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, struct ibv_qp **qp);

/* Any QP. modify takes today's masks only; query fills in everything, whatever the mask. */
int modern_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, struct ibv_qp **qp);
int modern_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int modern_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init_attr);
int modern_destroy_qp(struct ibv_qp *qp);
/** modern_pass_create_qp, modern_pass_destroy_qp - the same with result and errno as the verbs have them. */
struct ibv_qp *modern_pass_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int modern_pass_destroy_qp(struct ibv_qp *qp);

/** modern_event_of - what kind of object has events of that type. */
enum modern_event_of {
	MODERN_EVENT_OF_OTHER,
	MODERN_EVENT_OF_QP,
	MODERN_EVENT_OF_SRQ,
};

enum modern_event_of modern_event_of(uint32_t type);

struct event_source;

/** modern_event_source - of an opened device, of which it tells later whether it was closed. Never freed. */
struct event_source *modern_event_source(const struct ibv_context *context);

/*
 * Async events. get never blocks, however async_fd is set up: -EAGAIN when there is none; -EIO: the source's device was closed,
 * context is not touched. A handle from modern_open_tgt_qp() is filled in when an event of it is read.
 */
int modern_get_async_event(struct event_source *source, struct ibv_context *context, struct ibv_async_event *event);
/** modern_await_async_event - 1: there seems to be one; 0: there is none, unless block; -errno. fd: a device's async_fd. */
int modern_await_async_event(int fd, bool block);
void modern_ack_async_event(struct ibv_async_event *event);

/**
 * modern_await_acks - wait until all events of a QP or SRQ that were read are acknowledged. Every destroy does so; this is for
 * the destroy verbs in which a thread could always be cancelled. The caller has cancellation off and deferred; during the wait
 * it is in cancel_state.
 */
void modern_await_acks(const void *object, int cancel_state);

/**
 * modern_events_forking, modern_events_forked - called before and after a fork. The fork waits until no thread makes or ends an
 * object through modern/: such a thread has locks of the provider, which nobody would release in the child. Unless take is false:
 * then this thread may be the one, and waits for nobody.
 */
void modern_events_forking(bool take);
void modern_events_forked(bool child, bool taken);

/** modern_forking - whether this thread is between the two: it needs no lock, for verbs that the program's fork handlers call. */
bool modern_forking(void);

/* Opened devices. The GUID is in network byte order, 0 if it cannot be read. */
uint64_t modern_device_guid(const struct ibv_context *context);
int modern_close_device(struct ibv_context *context);

#endif
