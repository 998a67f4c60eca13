/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What `softhca status`, `stop` and `ctl`, and rdma(8) by netlink, ask of the daemon. */
#ifndef SOFTHCA_CONTROL_H
#define SOFTHCA_CONTROL_H

#include <softhca/machine/hca.h>

#include <stddef.h>

/*
 * Executes the words of one command, each ended by a null byte. *status is 0 or -errno; the text to
 * print (or the reason of the failure) is in the memfd that is returned (-1 = none), @length bytes
 * long.
 */
int control_execute(struct hca_machine *machine, const char *words, size_t size, int32_t *status,
		    uint32_t *length);

/* Puts the bytes into a memfd, which holds any length and needs no reader. -1: no memory. */
int control_publish(const void *bytes, size_t length);

/*
 * A file in memory with all messages that answer the request, @length bytes. -errno: there is none.
 */
int nldev_execute(const struct hca_machine *machine, const void *request, size_t size,
		  uint32_t *length);

#endif
