/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The kernel's own commands for opened handles, by write(2).
 *
 * The functions have the signatures of libibverbs' private ones (MODERN_COMMANDS), and replace them
 * where the signatures of the program's libibverbs are not known. The kernel keeps its commands
 * stable. Unlike libibverbs' ioctl(2), write(2) fails with EACCES in a process whose credentials
 * are not those that opened the device, such as a forked child.
 */
#ifndef MODERN_KERNEL_H
#define MODERN_KERNEL_H

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

/* The type of a command: as in libibverbs, which does not publish it. */
#define KERNEL_COMMAND(kernel_struct)			\
	struct {					\
		struct ib_uverbs_cmd_hdr header;	\
		struct kernel_struct core;		\
	}

int kernel_cmd_open_qp(struct ibv_context *context, void *qp, int qp_size,
		       struct ibv_qp_open_attr *attr, void *command, size_t command_size,
		       void *response, size_t response_size);
int kernel_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, void *command,
			 size_t size);
int kernel_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init_attr, void *command, size_t size);
int kernel_cmd_destroy_qp(struct ibv_qp *qp);

#endif
