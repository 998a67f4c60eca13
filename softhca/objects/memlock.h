/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The limit of locked memory (RLIMIT_MEMLOCK), which registered memory counts against on real
 * adapters.
 */
#ifndef SOFTHCA_MEMLOCK_H
#define SOFTHCA_MEMLOCK_H

#include <softhca/machine/hca.h>

/*
 * Whether the process may register this range, too. @leaving: a region that no longer counts, or
 * NULL. 0; -ENOMEM if not, and the setting "memlock" is on.
 */
int memlock_check(const struct hca_context *ctx, uint64_t start, uint64_t length,
		  const struct hca_mr *leaving);

#endif
