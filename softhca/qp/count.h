/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What a QP and its port have done, for `softhca ctl top` and `rdma statistic`. */
#ifndef SOFTHCA_COUNT_H
#define SOFTHCA_COUNT_H

#include <softhca/machine/hca.h>

static inline struct hca_counts *count_port(struct hca_qp *qp)
{
	return &qp->device->port[qp->attr.port].counts;
}

static inline void count_sent(struct hca_qp *qp, uint64_t bytes)
{
	qp->counts.sent++;
	qp->counts.sent_bytes += bytes;
	count_port(qp)->sent++;
	count_port(qp)->sent_bytes += bytes;
}

static inline void count_received(struct hca_qp *qp, uint64_t bytes)
{
	qp->counts.received++;
	qp->counts.received_bytes += bytes;
	count_port(qp)->received++;
	count_port(qp)->received_bytes += bytes;
}

static inline void count_error(struct hca_qp *qp, uint8_t syndrome)
{
	if (syndrome == SYNDROME_FLUSH)
		return;
	qp->counts.errors++;
	count_port(qp)->errors++;
}

#endif
