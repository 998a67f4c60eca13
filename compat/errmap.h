/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The one place where an error changes its form: 0 or -errno inside, what the old verb returned outside.
 */
#ifndef COMPAT_ERRMAP_H
#define COMPAT_ERRMAP_H

enum errmap_verb {
	ERRMAP_OPEN_XRC_DOMAIN,
	ERRMAP_CLOSE_XRC_DOMAIN,
	ERRMAP_CREATE_XRC_SRQ,
	ERRMAP_CREATE_XRC_RCV_QP,
	ERRMAP_MODIFY_XRC_RCV_QP,
	ERRMAP_QUERY_XRC_RCV_QP,
	ERRMAP_REG_XRC_RCV_QP,
	ERRMAP_UNREG_XRC_RCV_QP,
	ERRMAP_CREATE_QP,
	ERRMAP_MODIFY_QP,
	ERRMAP_QUERY_QP,
	ERRMAP_DESTROY_QP,
	ERRMAP_MODIFY_SRQ,
	ERRMAP_QUERY_SRQ,
	ERRMAP_DESTROY_SRQ,
	ERRMAP_GET_ASYNC_EVENT,
	ERRMAP_ACK_ASYNC_EVENT,
	ERRMAP_CLOSE_DEVICE,
	ERRMAP_XRC_COMPAT,
	ERRMAP_RDMA_CREATE_QP,
	ERRMAP_VERBS
};

/**
 * errmap_return - what the verb returns for status, with errno set to match.
 * @status: 0 or -errno; @saved_errno: errno as the caller had it, put back on success
 * Returns 0 on success. On failure a positive errno, or -1 for the verbs that say so in the table; for verbs that
 * return a pointer the value has no meaning (the caller returns NULL).
 */
int errmap_return(enum errmap_verb verb, int status, int saved_errno);

/** errmap_verb_name - the exported name, for messages. */
const char *errmap_verb_name(enum errmap_verb verb);

#endif
