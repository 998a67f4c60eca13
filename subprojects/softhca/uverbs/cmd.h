/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Commands of the uverbs write() interface. */
#ifndef SOFTHCA_CMD_H
#define SOFTHCA_CMD_H

#include <objects/objects.h>

/*
 * Executes one write(). 0 or -errno. The program gets the descriptor *give, and its number at
 * *give_at. Without one they are -1 and 0.
 */
int cmd_execute(struct hca_context *ctx, const void *bytes, size_t size, int fd, int *give,
		uint64_t *give_at);

/* Name of a command, for people. */
const char *cmd_name(uint32_t command);

/* The number behind such a name. 0 or -ENOENT. */
int cmd_number(const char *name, uint32_t *command);

/* The device_cap_flags that QUERY_DEVICE and rdma(8) report. */
uint32_t device_capabilities(const struct settings *settings);

cmd_fn cmd_get_context, cmd_query_device, cmd_ex_query_device, cmd_query_port, cmd_create_ah;

#endif
