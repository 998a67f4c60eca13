/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What one process asks of the owner of a receive QP through the registration table, where devices cannot share QPs.
 * The old struct has one layout on every architecture, so it goes as it is. The answer to a query is the attr, to a
 * modify nothing.
 */
#ifndef COMPAT_RCV_QP_REQUEST_H
#define COMPAT_RCV_QP_REQUEST_H

#include <abi/legacy.h>

enum rcv_qp_verb {
	RCV_QP_MODIFY,
	RCV_QP_QUERY,
};

struct rcv_qp_request {
	uint32_t verb;
	int32_t mask;
	struct legacy_qp_attr attr;
};

#endif
