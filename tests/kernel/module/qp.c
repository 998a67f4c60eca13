// SPDX-License-Identifier: GPL-2.0-only
/* Queue pairs: made and destroyed. */

#include <linux/log2.h>
#include <linux/slab.h>

#include "lab.h"

static bool has_rq(const struct ib_qp_init_attr *attr)
{
	return attr->qp_type != IB_QPT_XRC_INI && attr->qp_type != IB_QPT_XRC_TGT && !attr->srq;
}

static int check_type(const struct ib_qp_init_attr *attr)
{
	switch (attr->qp_type) {
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return lab_xrc ? 0 : -ENOSYS;
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

static int check_sizes(const struct ib_qp_init_attr *attr, bool user)
{
	const struct ib_qp_cap *cap = &attr->cap;

	if (attr->create_flags)
		return -EINVAL;
	if (cap->max_recv_wr > (u32)lab_limits.qp_wr || cap->max_recv_sge > (u32)lab_limits.sge)
		return -EINVAL;
	if (user && (cap->max_send_wr > (u32)lab_limits.qp_wr || cap->max_send_sge > (u32)lab_limits.sge))
		return -EINVAL;
	return 0;
}

/* What comes out of the model may be more than was asked for. */
static void settle_sizes(struct lab_qp *qp, struct ib_qp_init_attr *attr)
{
	if (!has_rq(attr))
		attr->cap.max_recv_wr = attr->cap.max_recv_sge = 0;
	qp->cap = attr->cap;
	qp->sq_sig_type = attr->sq_sig_type;
}

static int make(struct lab_qp *qp, struct lab_device *device, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	bool target = attr->qp_type == IB_QPT_XRC_TGT;
	int error = check_type(attr);
	u32 number;

	if (!error)
		error = check_sizes(attr, udata);
	if (!error && !udata && !target)
		error = -EOPNOTSUPP;
	if (!error)
		error = lab_number(device, LAB_QP, target ? device->model->target_tag : 0, &number);
	if (error)
		return error;
	qp->ib.qp_num = number;
	qp->state = IB_QPS_RESET;
	if (udata)
		error = device->model->qp(qp, attr, udata);
	if (!error)
		error = lab_object_add(&qp->object, device, LAB_QP, number);
	if (error) {
		lab_memory_unpin(&qp->memory);
		lab_number_free(device, number);
		return error;
	}
	settle_sizes(qp, attr);
	return 0;
}

#if KERNEL_FROM(5, 15)
int lab_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	return make(container_of(ib, struct lab_qp, ib), to_lab(ib->device), attr, udata);
}
#else
struct ib_qp *lab_create_qp(struct ib_pd *pd, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct lab_device *device = to_lab(attr->qp_type == IB_QPT_XRC_TGT ? attr->xrcd->device : pd->device);
	struct lab_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	int error;

	if (!qp)
		return ERR_PTR(-ENOMEM);
	qp->ib.device = &device->ib;
	error = make(qp, device, attr, udata);
	if (!error)
		return &qp->ib;
	kfree(qp);
	return ERR_PTR(error);
}
#endif

int lab_destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	struct lab_qp *qp = container_of(ib, struct lab_qp, ib);

	lab_object_remove(&qp->object);
	lab_number_free(qp->object.device, qp->object.number);
	lab_memory_unpin(&qp->memory);
#if !KERNEL_FROM(5, 15)
	kfree(qp);
#endif
	return 0;
}

/* The core has looked at the group and at the QP; which QPs are in a group only matters to messages. */
int lab_attach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	return 0;
}

int lab_detach_mcast(struct ib_qp *ib, union ib_gid *gid, u16 lid)
{
	return 0;
}

int lab_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	*bad = wr;
	return -EOPNOTSUPP;
}

int lab_post_recv(struct ib_qp *ib, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	*bad = wr;
	return -EOPNOTSUPP;
}
