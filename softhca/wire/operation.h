/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What a request does where it arrives. */
#ifndef SOFTHCA_OPERATION_H
#define SOFTHCA_OPERATION_H

#include "attempt.h"

#include <softhca/qp/recv.h>

/* FAILED with this syndrome at the sender. */
enum outcome operation_fail(struct attempt *attempt, enum syndrome syndrome);

/* Reads and atomics: what comes back is written at the sender. */
bool operation_changes_sender(const struct wqe *wqe);

/*
 * The sender's side of the request, as pieces of memory in attempt->local. False: a key does not
 * open it.
 */
bool operation_local_side(struct attempt *attempt);

/* The buffer at the head of a receive queue after @skip bytes. */
enum buffer { BUFFER_OK, BUFFER_SHORT, BUFFER_FORBIDDEN };
enum buffer operation_receive_side(const struct recv_queue *queue, uint64_t skip, uint64_t length,
				   struct mem_vec *vec);

/*
 * The QP of the receiver goes to ERR; if it is the sender's own, then after the sender's
 * completion.
 */
void operation_receiver_fails(struct attempt *attempt);

/* What the completion of the receiver says about the message. */
void operation_describe(const struct attempt *attempt, struct cqe *cqe);

/* Executes the piece at hand at attempt->peer. */
enum outcome operation_execute(struct attempt *attempt);

/*
 * The answer to a request that was executed before, and whose answer may have been lost: nothing
 * happens twice.
 */
enum outcome operation_repeat(struct attempt *attempt);

#endif
