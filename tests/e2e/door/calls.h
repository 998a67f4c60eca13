/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Calls of XRC, by a table of the verbs' addresses, however the program got them. */
#ifndef DOOR_CALLS_H
#define DOOR_CALLS_H

#include <infiniband/verbs.h>

#include "visible.h"

/* The old header declares these verbs, and a program can look them up: no verb here is inline. */
#define CALLED_VERBS(X) \
	X(get_device_list) X(free_device_list) X(open_device) X(close_device) \
	X(alloc_pd) X(dealloc_pd) X(create_cq) X(destroy_cq) \
	X(open_xrc_domain) X(close_xrc_domain) X(create_xrc_srq) X(destroy_srq) \
	X(create_xrc_rcv_qp) X(modify_xrc_rcv_qp) X(query_xrc_rcv_qp) \
	X(reg_xrc_rcv_qp) X(unreg_xrc_rcv_qp) \
	X(create_qp) X(modify_qp) X(destroy_qp)

struct verbs {
#define X(name) __typeof__(ibv_##name) *name;
	CALLED_VERBS(X)
#undef X
};

/*
 * Calls them on the first device, and prints "calls: done". If a call fails, prints it and ends the
 * process with 1.
 */
void make_calls(const struct verbs *verbs);

/* Fills in the verbs as the linker and the loader bind them; ignores @way. */
DOOR_VISIBLE void table_linked(struct verbs *verbs, const char *way);

/*
 * Looks the verbs up by dlopen() and dlsym(), in one of the ways of table.c. On failure it prints
 * the cause and ends the process with 1.
 */
DOOR_VISIBLE void table_lookup(struct verbs *verbs, const char *way);

#endif
