/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What every exported function shares: it comes in, calls compat, and goes out with the legacy error.
 */
#ifndef SHIM_SHIM_H
#define SHIM_SHIM_H

#include <errno.h>
#include <stdbool.h>

#include <abi/export.h>
#include <abi/legacy.h>
#include <compat/cancel.h>
#include <compat/errmap.h>
#include <compat/pair.h>

/** struct entry - one call of an exported function, from shim_enter() to one of those that leave. */
struct entry {
	enum verb verb;
	int saved_errno;
	struct cancel_hold hold;
};

/**
 * shim_enter - every exported function begins with it: nothing is done in a constructor, for the preload is set for every
 * process of a job. 0 once the program's libibverbs is found, -ENOSYS if there is none; the first call prints the banner.
 *
 * From here on the thread cannot be cancelled: libibverbs' write(2) is a cancellation point, and a thread that ended
 * there would take our locks and counts with it.
 */
int shim_enter(struct entry *entry, enum verb verb);

/** shim_leave - what the verb returns for err (0 or -errno), errno set to match. Cancellation is as it was again. */
int shim_leave(const struct entry *entry, int err);

/** shim_leave_with - the real function was called on the way: its result, and its errno. */
int shim_leave_with(const struct entry *entry, int result);

/** shim_pass - the call is none of ours: the real function goes on as if we had not been there. */
void shim_pass(const struct entry *entry);

/** What hooked ops slots hold: post_srq_recv where images exist, poll_cq where two-way QPs do. */
int shim_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int shim_poll_cq_tagged(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);
int shim_poll_cq_untagged(struct ibv_cq *cq, int num_entries, struct ibv_wc *wc);

/** shim_hook_poll_cq - hook poll_cq of a device with two-way QPs. 0 or -ENOMEM. */
int shim_hook_poll_cq(struct ibv_context *context, enum pair_rule rule);

/**
 * shim_rdmacm_attr - within rdma_create_qp with an old XRC QP: the program's own attributes, else NULL. What then reaches
 * ibv_create_qp is a copy that librdmacm made, and ends before the domain.
 */
const struct legacy_qp_init_attr *shim_rdmacm_attr(void);

#endif
