// SPDX-License-Identifier: GPL-2.0-only
/* Shared receive queues: ordinary ones, and those of XRC. */

#include <linux/log2.h>

#include "lab.h"

static struct lab_srq *to_srq(struct ib_srq *ib)
{
	return container_of(ib, struct lab_srq, ib);
}

static void number_free(struct lab_device *device, u32 number)
{
	if (device->model->srqs_share_numbers)
		lab_number_free(device, number);
}

static void forget(struct lab_srq *srq)
{
	lab_object_remove(&srq->object);
	number_free(srq->object.device, srq->object.number);
	lab_memory_unpin(&srq->memory);
}

int lab_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct lab_device *device = to_lab(ib->device);
	struct lab_srq *srq = to_srq(ib);
	u32 number;
	int error;

	if (attr->srq_type != IB_SRQT_BASIC && attr->srq_type != IB_SRQT_XRC)
		return -EOPNOTSUPP;
	if (attr->attr.max_wr >= (u32)lab_limits.srq_wr + 1 || attr->attr.max_sge > (u32)lab_limits.srq_sge)
		return -EINVAL;
	if (!udata)
		return -EOPNOTSUPP;
	srq->size = roundup_pow_of_two(attr->attr.max_wr + 1);
	srq->max_sge = attr->attr.max_sge;
	error = lab_number(device, LAB_SRQ, 0, &number);
	if (error)
		return error;
	error = lab_object_add(&srq->object, device, LAB_SRQ, number);
	if (error) {
		number_free(device, number);
		return error;
	}
	ib->ext.xrc.srq_num = number;
	error = device->model->srq(srq, udata);
	if (error)
		forget(srq);
	attr->attr.max_wr = srq->size - 1;
	return error;
}

int lab_modify_srq(struct ib_srq *ib, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct lab_srq *srq = to_srq(ib);

	if (mask & IB_SRQ_MAX_WR)
		return -EINVAL;
	if (!(mask & IB_SRQ_LIMIT))
		return 0;
	if (attr->srq_limit >= srq->size)
		return -EINVAL;
	srq->limit = attr->srq_limit;
	return 0;
}

int lab_query_srq(struct ib_srq *ib, struct ib_srq_attr *attr)
{
	const struct lab_srq *srq = to_srq(ib);

	attr->max_wr = srq->size - 1;
	attr->max_sge = srq->max_sge;
	attr->srq_limit = srq->limit;
	return 0;
}

int lab_destroy_srq(struct ib_srq *ib, struct ib_udata *udata)
{
	forget(to_srq(ib));
	return 0;
}
