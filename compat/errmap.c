/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The error map: one row per verb. */

#include <errno.h>
#include <stdbool.h>

#include "errmap.h"

enum convention {
	POSITIVE_ERRNO,
	NULL_WITH_ERRNO,
	MINUS_ONE,
	NOTHING,	/* cannot fail */
};

struct row {
	const char *name;
	enum convention convention;
	/*
	 * rdma-core says EOPNOTSUPP where a driver lacks XRC; the old library said ENOSYS, and GASNet tests for that to
	 * explain itself. Verbs that are not XRC's own keep what rdma-core says.
	 */
	bool xrc_verb;
};

static const struct row rows[ERRMAP_VERBS] = {
	[ERRMAP_OPEN_XRC_DOMAIN] = { "ibv_open_xrc_domain", NULL_WITH_ERRNO, true },
	[ERRMAP_CLOSE_XRC_DOMAIN] = { "ibv_close_xrc_domain", POSITIVE_ERRNO, true },
	[ERRMAP_CREATE_XRC_SRQ] = { "ibv_create_xrc_srq", NULL_WITH_ERRNO, true },
	[ERRMAP_CREATE_XRC_RCV_QP] = { "ibv_create_xrc_rcv_qp", POSITIVE_ERRNO, true },
	[ERRMAP_MODIFY_XRC_RCV_QP] = { "ibv_modify_xrc_rcv_qp", POSITIVE_ERRNO, true },
	[ERRMAP_QUERY_XRC_RCV_QP] = { "ibv_query_xrc_rcv_qp", POSITIVE_ERRNO, true },
	[ERRMAP_REG_XRC_RCV_QP] = { "ibv_reg_xrc_rcv_qp", POSITIVE_ERRNO, true },
	[ERRMAP_UNREG_XRC_RCV_QP] = { "ibv_unreg_xrc_rcv_qp", POSITIVE_ERRNO, true },
	[ERRMAP_CREATE_QP] = { "ibv_create_qp", NULL_WITH_ERRNO, true },
	[ERRMAP_MODIFY_QP] = { "ibv_modify_qp", POSITIVE_ERRNO, false },
	[ERRMAP_QUERY_QP] = { "ibv_query_qp", POSITIVE_ERRNO, false },
	[ERRMAP_DESTROY_QP] = { "ibv_destroy_qp", POSITIVE_ERRNO, false },
	[ERRMAP_MODIFY_SRQ] = { "ibv_modify_srq", POSITIVE_ERRNO, false },
	[ERRMAP_QUERY_SRQ] = { "ibv_query_srq", POSITIVE_ERRNO, false },
	[ERRMAP_DESTROY_SRQ] = { "ibv_destroy_srq", POSITIVE_ERRNO, false },
	[ERRMAP_GET_ASYNC_EVENT] = { "ibv_get_async_event", MINUS_ONE, false },
	[ERRMAP_ACK_ASYNC_EVENT] = { "ibv_ack_async_event", NOTHING, false },
	[ERRMAP_CLOSE_DEVICE] = { "ibv_close_device", MINUS_ONE, false },
	[ERRMAP_XRC_COMPAT] = { "xrc_compat_*", NULL_WITH_ERRNO, false },
	[ERRMAP_RDMA_CREATE_QP] = { "rdma_create_qp", MINUS_ONE, false },
};

int errmap_return(enum errmap_verb verb, int status, int saved_errno)
{
	const struct row *row = &rows[verb];
	int error = -status;

	if (!status) {
		errno = saved_errno;
		return 0;
	}
	if (row->xrc_verb && error == EOPNOTSUPP)
		error = ENOSYS;
	errno = error;
	return row->convention == MINUS_ONE ? -1 : error;
}

const char *errmap_verb_name(enum errmap_verb verb)
{
	return rows[verb].name;
}
