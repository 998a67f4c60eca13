/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Completion queues. */
#ifndef SOFTHCA_CQ_H
#define SOFTHCA_CQ_H

#include <softhca/machine/hca.h>

struct cq_request {
	uint64_t user_handle;
	uint32_t cqe; /* entries wanted */
	struct hca_channel *channel;
	struct cq_place place;
	bool stamped; /* completions are to carry their time */
};

/* 0, -EINVAL, -ENOMEM or -EFAULT. */
int cq_create(struct hca_context *ctx, const struct cq_request *request, struct hca_cq **cq);

/* Goes on in a new ring. 0, -EINVAL (too small, too large) or -EFAULT. */
int cq_resize(struct hca_cq *cq, uint32_t cqe, const struct cq_place *place);

/*
 * Writes a completion and raises the event if one is due. @solicited: counts for a CQ armed for
 * solicited ones only.
 */
void cq_post(struct hca_cq *cq, const struct cqe *cqe, bool solicited);

/* The program may have armed the CQ since the last completion. */
void cq_check_armed(struct hca_cq *cq);

#endif
