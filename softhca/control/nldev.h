/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The devices and their objects as rdma(8) asks the kernel for them, by netlink. */
#ifndef SOFTHCA_CONTROL_NLDEV_H
#define SOFTHCA_CONTROL_NLDEV_H

#include <softhca/machine/hca.h>

/*
 * A file in memory with all messages that answer the request, @length bytes. -errno: there is none.
 */
int nldev_execute(const struct hca_machine *machine, const void *request, size_t size,
		  uint32_t *length);

#endif
