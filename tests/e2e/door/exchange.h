/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Opens, creates, connects, registers and sends with XRC, by a table of the verbs' addresses,
 * however the program got them.
 */
#ifndef DOOR_EXCHANGE_H
#define DOOR_EXCHANGE_H

#include <infiniband/verbs.h>

#define DOOR_VISIBLE __attribute__((visibility("default")))

/*
 * The verbs of the exchange that are no inline functions of the old header. Closed MPIs look them
 * up.
 */
#define EXCHANGE_VERBS(X) \
	X(get_device_list) X(free_device_list) X(open_device) X(close_device) X(query_port) \
	X(alloc_pd) X(dealloc_pd) X(reg_mr) X(dereg_mr) X(create_cq) X(destroy_cq) \
	X(open_xrc_domain) X(close_xrc_domain) X(create_xrc_srq) X(destroy_srq) \
	X(create_xrc_rcv_qp) X(modify_xrc_rcv_qp) \
	X(reg_xrc_rcv_qp) X(unreg_xrc_rcv_qp) \
	X(create_qp) X(modify_qp) X(destroy_qp)

struct verbs {
#define X(name) __typeof__(ibv_##name) *name;
	EXCHANGE_VERBS(X)
#undef X
};

/**
 * exchange - does it on the first device, and prints "exchange: done". If a step fails, prints it
 * and ends the process with 1.
 */
void exchange(const struct verbs *verbs);

/** table_linked - the verbs as the linker and the loader bind them; ignores @way. */
DOOR_VISIBLE void table_linked(struct verbs *verbs, const char *way);

/**
 * table_lookup - the verbs by dlopen() and dlsym(), in one of the ways of table.c. On failure it
 * prints the cause and ends the process with 1.
 */
DOOR_VISIBLE void table_lookup(struct verbs *verbs, const char *way);

#endif
