/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What a QP and its device have done, for `softhca ctl top`. */
#ifndef SOFTHCA_COUNT_H
#define SOFTHCA_COUNT_H

#include <softhca/machine/hca.h>

static inline void count_sent(struct hca_qp *qp, uint64_t bytes)
{
	qp->counts.sent++;
	qp->counts.sent_bytes += bytes;
	qp->device->counts.sent++;
	qp->device->counts.sent_bytes += bytes;
}

static inline void count_received(struct hca_qp *qp, uint64_t bytes)
{
	qp->counts.received++;
	qp->counts.received_bytes += bytes;
	qp->device->counts.received++;
	qp->device->counts.received_bytes += bytes;
}

static inline void count_error(struct hca_qp *qp, uint8_t syndrome)
{
	if (syndrome == SYNDROME_FLUSH)
		return;
	qp->counts.errors++;
	qp->device->counts.errors++;
}

#endif
