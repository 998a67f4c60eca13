/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Memory regions and their keys. */
#include "objects.h"

#include <softhca/base/refuse.h>
#include <softhca/machine/mem.h>

#include <errno.h>

#define PAGE		 4096ull
#define REMOTE_CHANGES	 (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define NEEDS_WRITABLE	 (IBV_ACCESS_LOCAL_WRITE | REMOTE_CHANGES | IBV_ACCESS_MW_BIND)
#define SUPPORTED_ACCESS \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED | \
	 IBV_ACCESS_HUGETLB)

int mr_check(const struct hca_context *ctx, const struct mr_range *range)
{
	uint64_t end = range->start + range->length;

	if ((range->start & (PAGE - 1)) != (range->iova & (PAGE - 1)))
		return refuse(-EINVAL, "start and address within their pages");
	if (range->access & REMOTE_CHANGES && !(range->access & IBV_ACCESS_LOCAL_WRITE))
		return refuse(-EINVAL, "remote writing without local writing");
	/*
	 * Bits of the optional range are hints. Any other that this device does not know (on-demand
	 * paging) is an error.
	 */
	if (range->access & ~(uint32_t)(SUPPORTED_ACCESS | IB_UVERBS_ACCESS_OPTIONAL_RANGE))
		return refuse(-EINVAL, "access flags");
	if (end < range->start || end + PAGE - 1 < end)
		return refuse(-EINVAL, "range wraps around");
	/* No page at all: the kernel refuses to pin nothing. */
	if (!range->length && !(range->start & (PAGE - 1)))
		return refuse(-EINVAL, "nothing to register");
	if (mem_check_range(ctx, range->start, range->length, range->access & NEEDS_WRITABLE))
		return refuse(-EFAULT, "memory that is not there, or not to be written");
	return 0;
}

static void fill(struct hca_mr *mr, struct hca_pd *pd, const struct mr_range *range)
{
	mr->pd = pd;
	mr->access = range->access;
	mr->start = range->start;
	mr->length = range->length;
	mr->iova = range->iova;
	pd->obj.uses++;
}

int mr_create(struct hca_context *ctx, struct hca_pd *pd, const struct mr_range *range,
	      struct hca_mr **result)
{
	struct hca_mr *mr = object_new(ctx, HCA_MR, sizeof(*mr));

	if (!mr)
		return -ENOMEM;
	/*
	 * The index above, a changing byte below. A key of 0x100 would end a scatter list, so the
	 * first index is 2.
	 */
	mr->key = mr->obj.number << 8 | ctx->device->key_variant++;
	fill(mr, pd, range);
	*result = mr;
	return 0;
}

void mr_change(struct hca_mr *mr, struct hca_pd *pd, const struct mr_range *range)
{
	mr->pd->obj.uses--;
	fill(mr, pd, range);
}

struct hca_mr *mr_find(const struct hca_device *device, uint32_t key, const struct hca_pd *pd,
		       uint64_t address, uint64_t length, uint32_t access)
{
	struct hca_mr *mr = numtab_find(&device->numbers[HCA_MR], key >> 8);
	uint64_t base;

	if (!mr || mr->key != key || mr->pd != pd || (mr->access & access) != access)
		return NULL;
	base = mr->access & IBV_ACCESS_ZERO_BASED ? 0 : mr->iova;
	if (address < base || length > mr->length || address - base > mr->length - length)
		return NULL;
	return mr;
}

uint64_t mr_address(const struct hca_mr *mr, uint64_t address)
{
	return mr->start + (address - (mr->access & IBV_ACCESS_ZERO_BASED ? 0 : mr->iova));
}
