/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Today's rdma-core, as the rest of the library sees it.
 *
 * Only modern/ finds rdma-core's functions. A function here that returns int returns 0 or a
 * negative errno, whatever convention the verb itself has, and leaves its out-parameters alone on
 * failure. -EOPNOTSUPP: the provider has no such operation.
 */
#ifndef MODERN_MODERN_H
#define MODERN_MODERN_H

#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

/*
 * Finds the program's own libibverbs.so.1, and in it every function that the library uses. Threads
 * may call it at once, and again. Returns 0, or -ENOSYS when there is no libibverbs.so.1 or it
 * lacks one of the functions (modern_missing names that). This function asks the loader, so a
 * signal handler must not leave it.
 */
int modern_load(void);

/* The same for the constructor: finds a libibverbs.so.1 that is loaded already, and loads none. */
int modern_find(void);

/* Starts the tracer of `xrc-compat trace`, if there is one. Once, after modern_load(). */
void modern_start_tracer(void);

/* The file that modern_load() has found, as the loader names it; "" before that. */
extern const char *modern_library_path;

/* The library or function that was not found. Valid after modern_load() has failed. */
extern const char *_Atomic modern_missing;

/* Domains. oflag: O_CREAT, O_EXCL; fd -1: a private one. Errors: contract 5.1. */
int modern_open_xrcd(struct ibv_context *context, int fd, int oflag, struct ibv_xrcd **xrcd);
int modern_close_xrcd(struct ibv_xrcd *xrcd);

/* XRC SRQs. attr->attr is updated with what was allocated; *srq_num has 24 bits. */
int modern_create_xrc_srq(struct ibv_pd *pd, struct ibv_xrcd *xrcd, struct ibv_cq *cq,
			  struct ibv_srq_init_attr *attr, struct ibv_srq **srq, uint32_t *srq_num);
int modern_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int modern_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int modern_destroy_srq(struct ibv_srq *srq);

/*
 * The use of a handle on a target QP. It is stored in the handle itself, because the kernel may
 * raise an event on a handle before any table of ours has it.
 */
enum modern_tgt_use {
	MODERN_TGT_NONE,	/* not a handle of ours */
	MODERN_TGT_REGISTERED,	/* a registration: its events are the program's */
	MODERN_TGT_TRANSIENT,	/* opened for one modify or query: no program gets its events */
	MODERN_TGT_PAIRED,	/* the hidden half of a two-way QP */
};

/*
 * Returns the use of the handle, and its number. The caller asks for the QP of an event before it
 * acknowledges the event: after that another thread may destroy the QP.
 */
enum modern_tgt_use modern_tgt_use_of(const struct ibv_qp *qp, uint32_t *qp_num);

/*
 * Target QPs (XRC_RECV). open gives another handle on a QP that exists in the domain, else -EINVAL;
 * -EOPNOTSUPP where the kernel lets no QP be opened (Linux before 5.11 with qedr).
 */
int modern_create_tgt_qp(struct ibv_context *context, struct ibv_xrcd *xrcd,
			 enum modern_tgt_use use, struct ibv_qp **qp);
int modern_open_tgt_qp(struct ibv_xrcd *xrcd, uint32_t qp_num, enum modern_tgt_use use,
		       struct ibv_qp **qp);

/* Whether bit 23 of a number means a target QP: mlx4. */
bool modern_tags_tgt_qps(struct ibv_context *context);

/* Initiator QPs (XRC_SEND). attr->cap is updated; its qp_type and srq are ignored. */
int modern_create_ini_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, struct ibv_qp **qp);

/* Any QP. modify takes today's masks only; query fills in everything, whatever the mask. */
int modern_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int modern_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		    struct ibv_qp_init_attr *init_attr);
int modern_destroy_qp(struct ibv_qp *qp);

/* Any QP. These return what the verbs do. */
int any_qp_modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int any_qp_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		 struct ibv_qp_init_attr *init_attr);

/* The kind of object that has events of a type. */
enum modern_event_object {
	MODERN_EVENT_OF_OTHER,
	MODERN_EVENT_OF_QP,
	MODERN_EVENT_OF_SRQ,
};

enum modern_event_object modern_event_of(uint32_t type);

/*
 * Reads the next event of a device as libibverbs does: by read(2) of its async_fd, in which a
 * thread can be cancelled. Returns 0 or -errno. The kernel writes desc itself, so a cleanup handler
 * of a cancelled thread finds the event there if there was one.
 *
 * libibverbs also passes each event to the provider. Of the providers with XRC only libmlx5 uses
 * that, for flow steering.
 */
int modern_read_async_event(int async_fd, struct ib_uverbs_async_event_desc *desc);

/* Returns the event that the kernel described. */
struct ibv_async_event modern_async_event(const struct ib_uverbs_async_event_desc *desc);
void modern_ack_async_event(struct ibv_async_event *event);

/*
 * Subtracts @events from the acknowledgements of this QP: these events were another QP's.
 * ibv_destroy_qp waits until the acknowledgements equal the events that the kernel has reported.
 */
void modern_uncount_qp_acks(struct ibv_qp *qp, uint32_t events);

/* Opened devices. The GUID is in network byte order, 0 if it cannot be read. */
uint64_t modern_device_guid(const struct ibv_context *context);
int modern_open_device(struct ibv_device *device, struct ibv_context **context);
int modern_close_device(struct ibv_context *context);

#endif
