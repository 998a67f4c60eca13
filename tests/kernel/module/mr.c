// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions: pinned, so that what is not mapped is refused. */

#include <linux/atomic.h>
#include <linux/slab.h>

#include "lab.h"

static struct ib_mr *mr_new(struct ib_pd *pd, struct ib_umem *umem)
{
	struct lab_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	static atomic_t last = ATOMIC_INIT(2);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = umem;
	mr->ib.lkey = mr->ib.rkey = (u32)atomic_inc_return(&last) << 8;
	lab_object_add(&mr->object, to_lab(pd->device), LAB_MR, mr->ib.lkey);
	return &mr->ib;
}

struct ib_mr *lab_get_dma_mr(struct ib_pd *pd, int access)
{
	return mr_new(pd, NULL);
}

static struct ib_mr *reg(struct ib_pd *pd, u64 start, u64 length, int access)
{
	struct ib_umem *umem;
	struct ib_mr *mr;

	if (length >> PAGE_SHIFT > (u64)lab_limits.mr_pages)
		return ERR_PTR(-ENOMEM);
	umem = umem_get(pd->device, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = mr_new(pd, umem);
	if (IS_ERR(mr))
		ib_umem_release(umem);
	return mr;
}

#if KERNEL_FROM(6, 18)
struct ib_mr *lab_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access, struct ib_dmah *dmah,
			      struct ib_udata *udata)
{
	return dmah ? ERR_PTR(-EOPNOTSUPP) : reg(pd, start, length, access);
}
#else
struct ib_mr *lab_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 address, int access, struct ib_udata *udata)
{
	return reg(pd, start, length, access);
}
#endif

int lab_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct lab_mr *mr = container_of(ib, struct lab_mr, ib);

	lab_object_remove(&mr->object);
	if (mr->umem)
		ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
