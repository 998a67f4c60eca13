// SPDX-License-Identifier: GPL-2.0-only
/* The user ABI of mlx4: ConnectX-3. */

#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/uaccess.h>
#include <rdma/mlx4-abi.h>

#include "lab.h"

#define CQE_SIZE 64

static int context_response(struct lab_device *device, struct ib_udata *udata)
{
	struct mlx4_ib_alloc_ucontext_resp resp = {
		.dev_caps = 1, .qp_tab_size = 1 << 18, .bf_reg_size = 512, .bf_regs_per_page = 8, .cqe_size = CQE_SIZE,
	};

	return ib_copy_to_udata(udata, &resp, min(udata->outlen, sizeof(resp)));
}

static int pd_response(u32 pdn, struct ib_udata *udata)
{
	return ib_copy_to_udata(udata, &pdn, sizeof(pdn));
}

/* A ring of zeros would look full of completions to the provider: mlx4_core fills it with this before the first use. */
static int mark_unused(u64 at, u64 size)
{
	void *page = (void *)__get_free_page(GFP_KERNEL);
	u64 done;
	int error = 0;

	if (!page)
		return -ENOMEM;
	memset(page, 0xcc, PAGE_SIZE);
	for (done = 0; done < size && !error; done += PAGE_SIZE)
		if (copy_to_user(u64_to_user_ptr(at + done), page, min_t(u64, PAGE_SIZE, size - done)))
			error = -EFAULT;
	free_page((unsigned long)page);
	return error;
}

static int cq(struct lab_cq *cq, u32 entries, struct ib_udata *udata)
{
	struct mlx4_ib_create_cq in;
	int error;

	if (ib_copy_from_udata(&in, udata, sizeof(in)))
		return -EFAULT;
	cq->ring = in.buf_addr;
	cq->entry_size = CQE_SIZE;
	error = lab_memory_pin(&cq->memory, cq->ib.device, in.buf_addr, (u64)entries * CQE_SIZE, in.db_addr);
	if (!error)
		error = mark_unused(in.buf_addr, (u64)entries * CQE_SIZE);
	if (!error && ib_copy_to_udata(udata, &cq->object.number, sizeof(u32)))
		error = -EFAULT;
	return error;
}

#define OPCODE_RESIZED 0x16

static int resize(struct lab_cq *cq, u32 entries, struct ib_udata *udata)
{
	struct mlx4_ib_resize_cq in;
	int error;

	if (ib_copy_from_udata(&in, udata, sizeof(in)))
		return -EFAULT;
	error = mark_unused(in.buf_addr, (u64)entries * CQE_SIZE);
	return error ? error : lab_cq_move(cq, in.buf_addr, entries, CQE_SIZE, OPCODE_RESIZED | lab_cq_odd_turn(cq) << 7);
}

static int mw(struct ib_udata *udata)
{
	return 0;
}

static int srq(struct lab_srq *srq, struct ib_udata *udata)
{
	u64 stride = max_t(u64, 32, roundup_pow_of_two(16 + 16 * (u64)srq->max_sge));
	struct mlx4_ib_create_srq in;
	int error;

	if (ib_copy_from_udata(&in, udata, sizeof(in)))
		return -EFAULT;
	error = lab_memory_pin(&srq->memory, srq->ib.device, in.buf_addr, srq->size * stride, in.db_addr);
	if (!error && ib_copy_to_udata(udata, &srq->object.number, sizeof(u32)))
		error = -EFAULT;
	return error;
}

static u64 rq_bytes(const struct ib_qp_cap *cap)
{
	u64 count = roundup_pow_of_two(max_t(u32, 1, cap->max_recv_wr));

	return count * roundup_pow_of_two(16 * (u64)max_t(u32, 1, cap->max_recv_sge));
}

static int qp(struct lab_qp *qp, const struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	bool has_rq = attr->qp_type != IB_QPT_XRC_INI && !attr->srq;
	struct mlx4_ib_create_qp in = { 0 };
	u64 bytes;

	if (ib_copy_from_udata(&in, udata, min(sizeof(in), udata->inlen)))
		return -EFAULT;
	if (!has_rq && attr->cap.max_recv_wr)
		return -EINVAL;
	if (has_rq && (!attr->cap.max_recv_wr || !attr->cap.max_recv_sge))
		return -EINVAL;
	if (in.log_sq_bb_count > 15 || in.log_sq_stride > 10 || in.log_sq_stride < 6)
		return -EINVAL;
	bytes = (1ull << in.log_sq_bb_count << in.log_sq_stride) + (has_rq ? rq_bytes(&attr->cap) : 0);
	return lab_memory_pin(&qp->memory, qp->ib.device, in.buf_addr, bytes, has_rq ? in.db_addr : 0);
}

/* Kept as a power of two, rounded up. */
const struct lab_model lab_mlx4 = {
	.name = "mlx4", .device_names = "mlx4_%d", .driver_id = RDMA_DRIVER_MLX4, .abi_version = 4, .part_id = 0x1003,
	.target_tag = 1 << 23, .sqd_from_rts = true, .mmap_offsets = 3,
	.context_response = context_response, .pd_response = pd_response, .cq = cq, .resize = resize, .srq = srq, .qp = qp,
	.mw = mw,
};
