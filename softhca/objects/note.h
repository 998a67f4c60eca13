/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Notes in a context's ledger: what whoever survives this daemon has to know of its rings. */
#ifndef SOFTHCA_NOTE_H
#define SOFTHCA_NOTE_H

#include <softhca/machine/hca.h>

/* The context is ready. */
void note_context(struct hca_context *ctx);

/* Objects come, change (a new ring, another state) and go. Without room in the ledger nothing is noted. */
void note_cq(struct hca_cq *cq);
void note_cq_gone(struct hca_cq *cq);
void note_qp(struct hca_qp *qp);
void note_qp_gone(struct hca_qp *qp);

/* How far the queues of the QP are, where no completion tells. */
void note_queues(struct hca_qp *qp);

/* Around the writing of a completion. */
void note_coming(struct hca_cq *cq, const struct hca_qp *qp, bool send);
void note_written(struct hca_cq *cq, struct hca_qp *qp);

#endif
