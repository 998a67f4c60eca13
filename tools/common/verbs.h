/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The functions of libibverbs that the commands call. They are looked up, so that the commands
 * start without libibverbs.
 */
#ifndef XRC_COMPAT_TOOLS_VERBS_H
#define XRC_COMPAT_TOOLS_VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#define TOOLS_VERBS(X) \
	X(get_device_list) X(get_device_name) X(open_device) X(close_device) X(query_device) \
	X(query_port)

/* A function that the library lacks is NULL. */
struct verbs {
#define X(name) __typeof__(&(ibv_##name)) name;
	TOOLS_VERBS(X)
#undef X
};

/* @library: a path, or a name for dlopen(3). False if it cannot be loaded. */
bool verbs_load(const char *library, struct verbs *verbs);

#endif
