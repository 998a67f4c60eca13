/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Send queues: what is posted, which of them have work, and what happens to the requests that are
 * over.
 */
#ifndef SOFTHCA_SQ_H
#define SOFTHCA_SQ_H

#include <softhca/machine/hca.h>

void sq_init(struct hca_qp *qp);

/* The request at hand has made progress, or is over: patience begins anew. */
void sq_settle(struct hca_qp *qp);

/* No timer, no place in any list of work; for a QP that goes, resets or fails. */
void sq_stop(struct hca_qp *qp);

/* There is a request at hand. */
bool sq_posted(struct hca_qp *qp);

/* Reads it. SYNDROME_OK, or the syndrome of one that cannot be executed. */
enum syndrome sq_fetch(const struct hca_qp *qp, struct wqe *wqe);

/*
 * It is over: one completion if it asked for one, or if it failed. @wqe NULL = it was never read.
 */
void sq_complete(struct hca_qp *qp, const struct wqe *wqe, uint8_t syndrome);

/* Completes everything posted with a flush error. */
void sq_flush(struct hca_qp *qp);

/* True if the QP's state lets it execute. */
bool sq_may_execute(const struct hca_qp *qp);

/* Puts the QP into the list of work if there is any. */
void sq_kick(struct hca_qp *qp);

/* The same for all QPs with rings in a context, whose doorbell has rung for one of them. */
void sq_kick_all(struct hca_context *ctx);

/* Everybody who waits for an answer tries again at once. */
void sq_hurry(struct hca_machine *machine);

/* The QP is in SQD: says when the send queue has come to rest. */
void sq_drain(struct hca_qp *qp);

#endif
