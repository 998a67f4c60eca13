/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions of today's verbs that the library calls: all in one table.
 *
 * Functions of libibverbs.so.1 are looked up by node, in the library that the program itself uses.
 * A link-time reference would bind to our own definitions of the same names. It would also load
 * libibverbs into every process for which the preload is set.
 */
#ifndef MODERN_TABLE_H
#define MODERN_TABLE_H

#include <infiniband/verbs.h>

/* Functions of libibverbs.so.1: name without ibv_, return type, parameters, arguments. */
#define MODERN_FUNCTIONS(X) \
	X(create_qp, struct ibv_qp *, (struct ibv_pd *pd, struct ibv_qp_init_attr *attr), \
	  (pd, attr)) \
	X(modify_qp, int, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask), \
	  (qp, attr, mask)) \
	X(query_qp, int, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, \
			  struct ibv_qp_init_attr *init_attr), (qp, attr, mask, init_attr)) \
	X(destroy_qp, int, (struct ibv_qp *qp), (qp)) \
	X(modify_srq, int, (struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask), \
	  (srq, attr, mask)) \
	X(query_srq, int, (struct ibv_srq *srq, struct ibv_srq_attr *attr), (srq, attr)) \
	X(destroy_srq, int, (struct ibv_srq *srq), (srq)) \
	X(get_async_event, int, (struct ibv_context *context, struct ibv_async_event *event), \
	  (context, event)) \
	X(open_device, struct ibv_context *, (struct ibv_device *device), (device)) \
	X(get_device_guid, __be64, (struct ibv_device *device), (device)) \
	X(close_device, int, (struct ibv_context *context), (context))

/* Functions of libibverbs.so.1 without a result. */
#define MODERN_PROCEDURES(X) \
	X(ack_async_event, void, (struct ibv_async_event *event), (event))

/*
 * The kernel's commands for opened handles (kernel.h). They are in the table so that a tracer or a
 * test can put functions of its own in front of them.
 */
#define MODERN_COMMANDS(X) \
	X(uverbs_open_qp, int, (struct ibv_xrcd *xrcd, struct ibv_qp *qp), (xrcd, qp)) \
	X(uverbs_modify_qp, int, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask), \
	  (qp, attr, mask)) \
	X(uverbs_query_qp, int, (struct ibv_qp *qp, struct ibv_qp_attr *attr, \
				 struct ibv_qp_init_attr *init_attr), (qp, attr, init_attr)) \
	X(uverbs_destroy_qp, int, (struct ibv_qp *qp), (qp))

/* Inline functions of <infiniband/verbs.h>. They call the provider through the context. */
#define MODERN_INLINES(X) \
	X(open_xrcd, struct ibv_xrcd *, \
	  (struct ibv_context *context, struct ibv_xrcd_init_attr *attr), \
	  (context, attr)) \
	X(close_xrcd, int, (struct ibv_xrcd *xrcd), (xrcd)) \
	X(create_srq_ex, struct ibv_srq *, \
	  (struct ibv_context *context, struct ibv_srq_init_attr_ex *attr), \
	  (context, attr)) \
	X(get_srq_num, int, (struct ibv_srq *srq, uint32_t *number), (srq, number)) \
	X(create_qp_ex, struct ibv_qp *, \
	  (struct ibv_context *context, struct ibv_qp_init_attr_ex *attr), \
	  (context, attr))

struct modern_table {
#define X(name, ret, params, args) ret(*name) params;
	MODERN_FUNCTIONS(X)
	MODERN_PROCEDURES(X)
	MODERN_COMMANDS(X)
	MODERN_INLINES(X)
#undef X
};

/*
 * Valid once modern_load() has returned 0; read-only from then on. Calls that are passed on go
 * through these, so that return value and errno are the real library's own.
 */
extern struct modern_table modern_table;

#endif
