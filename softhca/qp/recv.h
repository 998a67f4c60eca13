/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Receive queues seen alike: a QP's own ring, a shared receive queue, an XRC SRQ. */
#ifndef SOFTHCA_RECV_H
#define SOFTHCA_RECV_H

#include <softhca/machine/hca.h>
#include <softhca/machine/mem.h>

/* Where the messages for @qp go. */
struct recv_queue {
	struct hca_qp *qp;
	struct hca_srq *srq; /* NULL = the QP's own ring */
	struct hca_pd *pd;   /* whose keys count */
	struct hca_cq *cq;
	const struct hca_context *ctx;
};

/* @srqn matters to XRC targets only. False when there is no such SRQ in the QP's domain. */
bool recv_queue_of(struct hca_qp *qp, uint32_t srqn, struct recv_queue *queue);

bool recv_available(const struct recv_queue *queue);

/* The scatter list of the next WQE, which stays where it is. Number of entries. */
uint32_t recv_peek(const struct recv_queue *queue, struct sge sge[WQE_MAX_SGE]);

/*
 * A message in several pieces begins: the next WQE of an SRQ is taken for it, before a message to
 * another QP takes it. recv_complete() then completes that one. A message that is begun again after
 * a failure keeps its WQE.
 */
void recv_claim(const struct recv_queue *queue);

/* Takes the next WQE and writes its completion; fills in what the queue knows about it. */
void recv_complete(const struct recv_queue *queue, struct cqe *cqe, bool solicited);

/* A QP in ERR: completes what is posted to its own ring. */
void recv_flush(struct hca_qp *qp);

#endif
