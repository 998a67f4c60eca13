// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues. Nothing completes; only a resize writes an entry, the one that ends the old ring. */

#include <linux/atomic.h>
#include <linux/log2.h>
#include <linux/uaccess.h>

#include "lab.h"

static void forget(struct lab_cq *cq)
{
	lab_object_remove(&cq->object);
	lab_memory_unpin(&cq->memory);
}

int lab_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr, CREATE_CQ_ARGUMENT)
{
	struct lab_cq *cq = container_of(ib, struct lab_cq, ib);
	struct lab_device *device = to_lab(ib->device);
	static atomic_t last = ATOMIC_INIT(0x80);
	u32 entries;
	int error;

	if (attr->cqe < 1 || attr->cqe > lab_limits.cqe)
		return -EINVAL;
	if (attr->flags & ~(u32)(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN))
		return -EINVAL;
	if (!argument)
		return -EOPNOTSUPP;
	entries = roundup_pow_of_two(attr->cqe + 1);
	ib->cqe = entries - 1;
	error = lab_object_add(&cq->object, device, LAB_CQ, (u32)atomic_inc_return(&last) & 0xffffff);
	if (error)
		return error;
	error = device->model->cq(cq, entries, CREATE_CQ_UDATA(argument));
	if (error)
		forget(cq);
	return error;
}

bool lab_cq_odd_turn(const struct lab_cq *cq)
{
	return cq->producer & (cq->ib.cqe + 1);
}

int lab_cq_move(struct lab_cq *cq, u64 ring, u32 entries, u32 entry_size, u8 last)
{
	u32 old_entries = cq->ib.cqe + 1;
	u64 at = cq->ring + (u64)((cq->producer & (old_entries - 1)) + 1) * cq->entry_size - 1;
	struct lab_memory memory = { 0 };
	int error;

	error = lab_memory_pin(&memory, cq->ib.device, ring, (u64)entries * entry_size, 0);
	if (error)
		return error;
	if (copy_to_user(u64_to_user_ptr(at), &last, 1)) {
		lab_memory_unpin(&memory);
		return -EFAULT;
	}
	swap(cq->memory.buffer, memory.buffer);
	lab_memory_unpin(&memory);
	cq->ring = ring;
	cq->entry_size = entry_size;
	return 0;
}

/* The provider moves what it has not polled from the old ring to the new one, up to an entry that ends the old one. */
int lab_resize_cq(struct ib_cq *ib, cq_entries cqe, struct ib_udata *udata)
{
	struct lab_cq *cq = container_of(ib, struct lab_cq, ib);
	u32 entries;
	int error;

	if (cqe < 1 || cqe > lab_limits.cqe)
		return -EINVAL;
	entries = roundup_pow_of_two(cqe + 1);
	if (entries == ib->cqe + 1)
		return 0;
	error = cq->object.device->model->resize(cq, entries, udata);
	if (error)
		return error;
	cq->producer++;
	ib->cqe = entries - 1;
	return 0;
}

int lab_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	forget(container_of(ib, struct lab_cq, ib));
	return 0;
}

int lab_poll_cq(struct ib_cq *ib, int entries, struct ib_wc *wc)
{
	return 0;
}

int lab_req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	return 0;
}
