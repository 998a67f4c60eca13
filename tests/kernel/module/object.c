// SPDX-License-Identifier: GPL-2.0-only
/* The list of all objects, their numbers, and the memory that programs lend them. */

#include <linux/log2.h>
#include <linux/sched.h>

#include "lab.h"

const char *const lab_kind_names[LAB_KINDS] = { "context", "pd", "ah", "xrcd", "cq", "srq", "qp", "mr", "mw" };

static LIST_HEAD(objects);
static DEFINE_SPINLOCK(objects_lock);

static int limit(enum lab_kind kind)
{
	switch (kind) {
	case LAB_PD:
		return lab_limits.pd;
	case LAB_CQ:
		return lab_limits.cq;
	case LAB_SRQ:
		return lab_limits.srq;
	case LAB_QP:
		return lab_limits.qp;
	case LAB_MR:
		return lab_limits.mr;
	default:
		return INT_MAX;
	}
}

int lab_object_add(struct lab_object *object, struct lab_device *device, enum lab_kind kind, u32 number)
{
	unsigned long flags;

	if (atomic_inc_return(&device->count[kind]) > limit(kind)) {
		atomic_dec(&device->count[kind]);
		return -ENOMEM;
	}
	object->device = device;
	object->kind = kind;
	object->number = number;
	object->pid = task_tgid_nr(current);
	spin_lock_irqsave(&objects_lock, flags);
	list_add_tail(&object->link, &objects);
	spin_unlock_irqrestore(&objects_lock, flags);
	return 0;
}

void lab_object_remove(struct lab_object *object)
{
	unsigned long flags;

	spin_lock_irqsave(&objects_lock, flags);
	list_del(&object->link);
	spin_unlock_irqrestore(&objects_lock, flags);
	atomic_dec(&object->device->count[object->kind]);
}

/* Visits objects until a visit returns true. None goes away meanwhile. */
bool lab_objects(lab_visit visit, void *argument)
{
	struct lab_object *object;
	unsigned long flags;
	bool enough = false;

	spin_lock_irqsave(&objects_lock, flags);
	list_for_each_entry(object, &objects, link) {
		enough = visit(object, argument);
		if (enough)
			break;
	}
	spin_unlock_irqrestore(&objects_lock, flags);
	return enough;
}

/* One counter gives the numbers of QPs in order, as the adapters do; a number comes again only when all others have. */
int lab_number(struct lab_device *device, enum lab_kind kind, u32 tag, u32 *number)
{
	u32 numbers = clamp_t(u32, roundup_pow_of_two(4 * (u32)lab_limits.qp), 1 << 9, 1 << 18);
	struct xa_limit range = XA_LIMIT(0x40, numbers - 1);
	int error;

	if (kind == LAB_SRQ && !device->model->srqs_share_numbers) {
		*number = device->next_srq++;
		return 0;
	}
	error = xa_alloc_cyclic(&device->qps, number, device, range, &device->next_qp, GFP_KERNEL);
	if (error >= 0)
		*number |= tag;
	return error < 0 ? -ENOMEM : 0;
}

void lab_number_free(struct lab_device *device, u32 number)
{
	xa_erase(&device->qps, number & 0x3ffff);
}

static int pin(struct ib_umem **umem, struct ib_device *device, u64 at, u64 size)
{
	*umem = umem_get(device, at, size, 0);
	if (!IS_ERR(*umem))
		return 0;
	size = PTR_ERR(*umem);
	*umem = NULL;
	return (int)size;
}

int lab_memory_pin(struct lab_memory *memory, struct ib_device *device, u64 buffer, u64 size, u64 doorbell)
{
	int error = pin(&memory->buffer, device, buffer, size);

	if (!error && doorbell)
		error = pin(&memory->doorbell, device, doorbell & PAGE_MASK, PAGE_SIZE);
	if (error)
		lab_memory_unpin(memory);
	return error;
}

void lab_memory_unpin(struct lab_memory *memory)
{
	if (memory->buffer)
		ib_umem_release(memory->buffer);
	if (memory->doorbell)
		ib_umem_release(memory->doorbell);
	memory->buffer = memory->doorbell = NULL;
}
