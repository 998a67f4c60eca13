// SPDX-License-Identifier: GPL-2.0-only
/* Completion queues. None ever completes anything. */

#include <linux/atomic.h>
#include <linux/log2.h>

#include "lab.h"

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
	lab_object_add(&cq->object, device, LAB_CQ, (u32)atomic_inc_return(&last) & 0xffffff);
	error = device->model->cq(cq, entries, CREATE_CQ_UDATA(argument));
	if (error) {
		lab_object_remove(&cq->object);
		lab_memory_unpin(&cq->memory);
	}
	return error;
}

int lab_destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	struct lab_cq *cq = container_of(ib, struct lab_cq, ib);

	lab_object_remove(&cq->object);
	lab_memory_unpin(&cq->memory);
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
