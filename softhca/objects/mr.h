/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Memory regions and their keys. */
#ifndef SOFTHCA_MR_H
#define SOFTHCA_MR_H

#include <softhca/machine/hca.h>

/* What a REG_MR or REREG_MR asks for. */
struct mr_range {
	uint64_t start, length, iova; /* bytes; addresses in the client */
	uint32_t access;	      /* IBV_ACCESS_* */
};

/* As ib_core and the pinning of pages check it. 0, -EINVAL or -EFAULT. */
int mr_check(const struct hca_context *ctx, const struct mr_range *range);

/*
 * Whether the process may register this range, too. @leaving: a region that no longer counts, or
 * NULL. 0; -ENOMEM if not, and the setting "memlock" is on.
 */
int memlock_check(const struct hca_context *ctx, uint64_t start, uint64_t length,
		  const struct hca_mr *leaving);

/* 0 or -ENOMEM. */
int mr_create(struct hca_context *ctx, struct hca_pd *pd, const struct mr_range *range,
	      struct hca_mr **mr);

/* Changes what the region is; its key stays, for the peers to which the program has given it. */
void mr_change(struct hca_mr *mr, struct hca_pd *pd, const struct mr_range *range);

/*
 * The region that @key opens for an access of kind @access to @length bytes at @address by objects
 * of @pd, or NULL.
 */
struct hca_mr *mr_find(const struct hca_device *device, uint32_t key, const struct hca_pd *pd,
		       uint64_t address, uint64_t length, uint32_t access);

/* @address, as work requests name it, in the client's memory. */
uint64_t mr_address(const struct hca_mr *mr, uint64_t address);

#endif
