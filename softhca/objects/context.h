/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The life of a context: from the client's greeting to its death, however it dies. */
#ifndef SOFTHCA_CONTEXT_H
#define SOFTHCA_CONTEXT_H

#include <softhca/machine/hca.h>
#include <softhca/proto.h>

/*
 * A context for the client @pid on @sock, which becomes the context's. @arena_fd is the memfd of
 * its arena or -1; it stays the caller's. 0 with *uar_fd to be sent and closed; -ENODEV, -EACCES
 * when the client's memory is out of reach, -ENOMEM.
 */
int context_create(struct hca_machine *machine, const struct softhca_hello *hello, int sock,
		   pid_t pid, int arena_fd, struct hca_context **ctx, int *uar_fd);

/* Ends everything that belongs to the context. */
void context_destroy(struct hca_context *ctx);

#endif
