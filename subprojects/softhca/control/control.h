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

/* Answers a netlink request with messages on @out. 0 or -errno. */
int nldev_execute(const struct hca_machine *machine, const void *request, size_t size, FILE *out);

#endif
