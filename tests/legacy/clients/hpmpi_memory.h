/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Registrations that last as long as their memory. */
#ifndef TESTS_LEGACY_CLIENTS_HPMPI_MEMORY_H
#define TESTS_LEGACY_CLIENTS_HPMPI_MEMORY_H

#include <infiniband/verbs.h>

typedef int deregister_t(struct ibv_mr *mr);

/* free() or munmap() of any of its memory deregisters it. */
void pin(struct ibv_mr *mr, deregister_t *deregister);

#endif
