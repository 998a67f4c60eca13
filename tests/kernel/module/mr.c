// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions: pinned, so that what is not mapped is refused; and memory windows. */

#include <linux/atomic.h>
#include <linux/slab.h>

#include "lab.h"

static struct ib_mr *mr_new(struct ib_pd *pd, struct ib_umem *umem)
{
	struct lab_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	static atomic_t last = ATOMIC_INIT(2);
	int error;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = umem;
	mr->ib.lkey = mr->ib.rkey = (u32)atomic_inc_return(&last) << 8;
	error = lab_object_add(&mr->object, to_lab(pd->device), LAB_MR, mr->ib.lkey);
	if (!error)
		return &mr->ib;
	kfree(mr);
	return ERR_PTR(error);
}

struct ib_mr *lab_get_dma_mr(struct ib_pd *pd, int access)
{
	return mr_new(pd, NULL);
}

static struct ib_umem *pin(struct ib_device *device, u64 start, u64 length, int access)
{
	if (length >> PAGE_SHIFT > (u64)lab_limits.mr_pages)
		return ERR_PTR(-ENOMEM);
	return umem_get(device, start, length, access);
}

static struct ib_mr *reg(struct ib_pd *pd, u64 start, u64 length, int access)
{
	struct ib_umem *umem = pin(pd->device, start, length, access);
	struct ib_mr *mr;

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

/* The core has looked at flags and rights, and changes the PD itself. */
static int rereg(struct lab_mr *mr, int flags, u64 start, u64 length, int access)
{
	struct ib_umem *umem;

	/* What was pinned for reading only would have to be pinned again. */
	if (flags & IB_MR_REREG_ACCESS && !(flags & IB_MR_REREG_TRANS) && ib_access_writable(access) && !mr->umem->writable)
		return -EPERM;
	if (!(flags & IB_MR_REREG_TRANS))
		return 0;
	umem = pin(mr->ib.device, start, length, flags & IB_MR_REREG_ACCESS ? access : IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	ib_umem_release(mr->umem);
	mr->umem = umem;
	return 0;
}

#if KERNEL_FROM(5, 11)
struct ib_mr *lab_rereg_user_mr(struct ib_mr *ib, int flags, u64 start, u64 length, u64 address, int access, struct ib_pd *pd,
				struct ib_udata *udata)
{
	return ERR_PTR(rereg(container_of(ib, struct lab_mr, ib), flags, start, length, access));
}
#else
int lab_rereg_user_mr(struct ib_mr *ib, int flags, u64 start, u64 length, u64 address, int access, struct ib_pd *pd,
		      struct ib_udata *udata)
{
	return rereg(container_of(ib, struct lab_mr, ib), flags, start, length, access);
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

/* The core has looked at the type. */
int lab_alloc_mw(struct ib_mw *ib, struct ib_udata *udata)
{
	struct lab_mw *mw = container_of(ib, struct lab_mw, ib);
	struct lab_device *device = to_lab(ib->device);
	static atomic_t last = ATOMIC_INIT(2);
	int error = device->model->mw(udata);

	if (error)
		return error;
	ib->rkey = (u32)atomic_inc_return(&last) << 8 | 1;
	return lab_object_add(&mw->object, device, LAB_MW, ib->rkey);
}

int lab_dealloc_mw(struct ib_mw *ib)
{
	lab_object_remove(&container_of(ib, struct lab_mw, ib)->object);
	return 0;
}
