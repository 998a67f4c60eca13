// SPDX-License-Identifier: GPL-2.0-only
/* Contexts with their mappings, protection domains, address handles, XRC domains. */

#include <linux/atomic.h>
#include <linux/mm.h>

#include "lab.h"

/* For numbers that nobody looks up: they only have to differ. */
static u32 next_number(void)
{
	static atomic_t last = ATOMIC_INIT(0x40);

	return (u32)atomic_inc_return(&last) & 0xffffff;
}

int lab_alloc_ucontext(struct ib_ucontext *ib, struct ib_udata *udata)
{
	struct lab_context *context = container_of(ib, struct lab_context, ib);
	struct lab_device *device = to_lab(ib->device);
	int error = device->model->context_response(device, udata);

	return error ? error : lab_object_add(&context->object, device, LAB_CONTEXT, next_number());
}

void lab_dealloc_ucontext(struct ib_ucontext *ib)
{
	lab_object_remove(&container_of(ib, struct lab_context, ib)->object);
}

/* All UAR pages are one page of memory that nobody reads: a doorbell that is rung has no effect. */
int lab_mmap(struct ib_ucontext *ib, struct vm_area_struct *vma)
{
	struct lab_device *device = to_lab(ib->device);

	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	if (vma->vm_pgoff >= 64 || !(device->model->mmap_offsets & BIT_ULL(vma->vm_pgoff)))
		return -EINVAL;
	return remap_pfn_range(vma, vma->vm_start, page_to_pfn(device->uar), PAGE_SIZE, vma->vm_page_prot);
}

int lab_alloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct lab_pd *pd = container_of(ib, struct lab_pd, ib);
	struct lab_device *device = to_lab(ib->device);
	u32 pdn = next_number();
	int error = udata ? device->model->pd_response(pdn, udata) : 0;

	return error ? error : lab_object_add(&pd->object, device, LAB_PD, pdn);
}

int lab_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	lab_object_remove(&container_of(ib, struct lab_pd, ib)->object);
	return 0;
}

int lab_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	struct lab_ah *ah = container_of(ib, struct lab_ah, ib);

	ah->attr = *init->ah_attr;
	return lab_object_add(&ah->object, to_lab(ib->device), LAB_AH, next_number());
}

int lab_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr)
{
	*attr = container_of(ib, struct lab_ah, ib)->attr;
	return 0;
}

int lab_destroy_ah(struct ib_ah *ib, u32 flags)
{
	lab_object_remove(&container_of(ib, struct lab_ah, ib)->object);
	return 0;
}

int lab_alloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	struct lab_xrcd *xrcd = container_of(ib, struct lab_xrcd, ib);

	return lab_object_add(&xrcd->object, to_lab(ib->device), LAB_XRCD, next_number());
}

int lab_dealloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata)
{
	lab_object_remove(&container_of(ib, struct lab_xrcd, ib)->object);
	return 0;
}
