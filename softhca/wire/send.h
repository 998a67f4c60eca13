/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Send queues: executing work requests, retrying, completing and flushing them. */
#ifndef SOFTHCA_SEND_H
#define SOFTHCA_SEND_H

#include <softhca/machine/hca.h>

void send_init(struct hca_qp *qp);

/* No timer, no place in any list of work; for a QP that goes, resets or fails. */
void send_stop(struct hca_qp *qp);

/* Puts the QP into the list of work if there is any. */
void send_kick(struct hca_qp *qp);

/* Everybody who waits for an answer tries again at once. */
void send_hurry(struct hca_machine *machine);

/* The QP entered SQD: says when the send queue has come to rest. */
void send_drain(struct hca_qp *qp);

/* Completes everything posted with a flush error. */
void send_flush(struct hca_qp *qp);

/* Executes what is in the list of work, a bounded number of requests each. False when the list is empty after that. */
bool send_run(struct hca_machine *machine);

#endif
