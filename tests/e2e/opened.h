/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Destroys an opened handle in a program of today. For a handle from ibv_open_qp, ibv_destroy_qp of
 * libmlx5 crashes (docs/upstream/).
 */
#ifndef TESTS_OPENED_H
#define TESTS_OPENED_H

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stddef.h>

#include "emulated.h"

static inline int opened_destroy(struct ibv_qp *qp)
{
	int (*command)(struct ibv_qp *qp) = NULL;

	if (emulated_is_mlx5())
		command = (int (*)(struct ibv_qp *))dlsym(RTLD_DEFAULT, "ibv_cmd_destroy_qp");
	return command ? command(qp) : ibv_destroy_qp(qp);
}

#endif
