/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions of libibverbs.so.1 that modern/ calls, found at run time.
 *
 * They are looked up in the library the program itself uses, by node: a link-time reference would bind to our own
 * definitions of the same names, and would drag libibverbs into every process the preload is set for.
 */
#ifndef MODERN_TABLE_H
#define MODERN_TABLE_H

#include <infiniband/verbs.h>

/* name without its ibv_, return type, arguments */
#define MODERN_FUNCTIONS(X)											\
	X(create_qp, struct ibv_qp *, (struct ibv_pd *, struct ibv_qp_init_attr *))				\
	X(modify_qp, int, (struct ibv_qp *, struct ibv_qp_attr *, int))						\
	X(query_qp, int, (struct ibv_qp *, struct ibv_qp_attr *, int, struct ibv_qp_init_attr *))		\
	X(destroy_qp, int, (struct ibv_qp *))									\
	X(modify_srq, int, (struct ibv_srq *, struct ibv_srq_attr *, int))					\
	X(query_srq, int, (struct ibv_srq *, struct ibv_srq_attr *))						\
	X(destroy_srq, int, (struct ibv_srq *))									\
	X(get_async_event, int, (struct ibv_context *, struct ibv_async_event *))				\
	X(ack_async_event, void, (struct ibv_async_event *))							\
	X(get_device_guid, __be64, (struct ibv_device *))							\
	X(close_device, int, (struct ibv_context *))

struct modern_table {
#define X(name, ret, args) ret(*name) args;
	MODERN_FUNCTIONS(X)
#undef X
};

/*
 * Valid once modern_load() has returned 0; read-only from then on. Whoever passes a call straight through calls these:
 * return value and errno are then the real library's own.
 */
extern struct modern_table modern_table;

/* A verb that returns a positive errno, or -1 with errno set, as 0 or a negative errno. */
int modern_status(int ret);

/* The negative errno of a verb that has just returned NULL; some providers leave errno alone. */
int modern_null_status(void);

#endif
