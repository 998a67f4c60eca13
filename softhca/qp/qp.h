/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Queue pairs: their life and their state machine. */
#ifndef SOFTHCA_QP_H
#define SOFTHCA_QP_H

#include <softhca/machine/hca.h>

struct qp_request {
	uint64_t user_handle;
	enum ibv_qp_type type;
	struct hca_pd *pd;
	struct hca_cq *send_cq, *recv_cq;
	struct hca_srq *srq;
	struct hca_xrcd_handle *domain; /* XRC target */
	bool sq_sig_all;
	bool not_to_self;
	struct qp_caps caps; /* as they are given */
	struct qp_rings rings;
};

/* 0 or -ENOMEM. */
int qp_create(struct hca_context *ctx, const struct qp_request *request,
	      struct hca_qp_handle **handle);

/* A further handle of an XRC target QP of the domain. 0, -EINVAL or -ENOMEM. */
int qp_open(struct hca_context *ctx, struct hca_xrcd_handle *domain, uint32_t qpn,
	    uint64_t user_handle, struct hca_qp_handle **handle);

/*
 * One handle of each QP is its first, whoever has it: a walk over the handles in all contexts meets
 * each QP there once.
 */
bool qp_first_handle(const struct hca_qp_handle *handle);

/* 0 or -EINVAL; -ENODATA: empty GID entry; -ETIMEDOUT: no port has the GID. */
int qp_modify(struct hca_qp *qp, const struct ib_uverbs_modify_qp *request);

/* Everything that is known, whatever was asked for. */
void qp_query(const struct hca_qp *qp, struct ib_uverbs_query_qp_resp *resp);

/* To ERR: flushes what is posted. The caller raises the event, if there is one to raise. */
void qp_fail(struct hca_qp *qp);

/* Bytes of a packet's payload. */
uint32_t qp_mtu(const struct hca_qp *qp);

#endif
