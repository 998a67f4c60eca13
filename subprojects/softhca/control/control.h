/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Executes `softhca status`, `stop` and `ctl`, and the netlink requests of rdma(8). */
#ifndef SOFTHCA_CONTROL_H
#define SOFTHCA_CONTROL_H

#include <machine/hca.h>

#include <stddef.h>
#include <stdio.h>

/* The commands with their words, each with its meaning, for --help. */
void control_help(FILE *out);

/* Executes words, each ended by a null byte. 0 or -errno, with the text to print on @out. */
int control_execute(struct hca_machine *machine, const char *words, size_t size, FILE *out);

/*
 * A process at the other end of @sock writes a capture to @file, with the first @snap bytes of each
 * packet. 0: the socket is the capture's, and @ring is what the process maps; or -errno.
 */
int control_capture_begin(const struct hca_machine *machine, uint32_t snap, int sock, int file,
			  int *ring);

/* Answers a netlink request with messages on @out. 0 or -errno. */
int nldev_execute(const struct hca_machine *machine, const void *request, size_t size, FILE *out);

#endif
