/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Shared receive queues. */
#ifndef SOFTHCA_SRQ_H
#define SOFTHCA_SRQ_H

#include <softhca/machine/hca.h>

struct srq_request {
	uint64_t user_handle;
	struct hca_pd *pd;
	bool xrc;
	struct hca_xrcd_handle *domain; /* XRC */
	struct hca_cq *cq;		/* XRC */
	uint32_t max_wr, max_sge;
	struct srq_place place;
};

/* 0, -EINVAL or -ENOMEM. */
int srq_create(struct hca_context *ctx, const struct srq_request *request, struct hca_srq **srq);

/* Receive WQEs that are posted and not consumed; 0 also when the record cannot be read. */
uint32_t srq_available(const struct hca_srq *srq);

/* There is one. Reads the record only when all that were known are consumed. */
bool srq_ready(struct hca_srq *srq);

/* The WQE at srq->head was used: goes on to the next, and raises the limit event. */
void srq_consume(struct hca_srq *srq);

/* Arms the limit event; 0 disarms. 0 or -EINVAL. */
int srq_set_limit(struct hca_srq *srq, uint32_t limit);

uint64_t srq_slot(const struct hca_srq *srq, uint16_t index);

#endif
