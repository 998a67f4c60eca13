// SPDX-License-Identifier: GPL-2.0-only
/* The user ABI of mlx5: ConnectX-5. */

#include <linux/log2.h>
#include <rdma/mlx5-abi.h>

#include "lab.h"

#define UNIT 64
#define SQ_UNITS 32768
#define REGISTERS_MAX 512
#define NO_USER_INDEX 0xffffff

static int context_response(struct lab_device *device, struct ib_udata *udata)
{
	struct mlx5_ib_alloc_ucontext_req_v2 in = { 0 };
	struct mlx5_ib_alloc_ucontext_resp resp = {
		.qp_tab_size = 1 << 18, .bf_reg_size = 512, .cache_line_size = 64, .max_sq_desc_sz = 1024,
		.max_rq_desc_sz = 512, .max_send_wqebb = SQ_UNITS, .max_recv_wr = 32768, .max_srq_recv_wr = lab_limits.srq_wr + 1,
		.num_ports = lab_limits.ports, .cqe_version = 1, .log_uar_size = 12, .num_uars_per_page = 1,
	};
	int error;

	/* Two structures: the first had the numbers of registers only. */
	if (udata->inlen != sizeof(struct mlx5_ib_alloc_ucontext_req) &&
	    udata->inlen < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version))
		return -EINVAL;
	error = ib_copy_from_udata(&in, udata, min(sizeof(in), udata->inlen));
	if (error)
		return error;
	if (in.comp_mask || in.reserved0 || in.reserved1 || in.reserved2)
		return -EOPNOTSUPP;
	resp.tot_bfregs = round_up(in.total_num_bfregs, 2);
	if (!resp.tot_bfregs || in.num_low_latency_bfregs > resp.tot_bfregs - 1)
		return -EINVAL;
	if (resp.tot_bfregs > REGISTERS_MAX)
		return -ENOMEM;
	resp.response_length = min(udata->outlen, sizeof(resp));
	return ib_copy_to_udata(udata, &resp, resp.response_length);
}

static int pd_response(u32 pdn, struct ib_udata *udata)
{
	return ib_copy_to_udata(udata, &pdn, sizeof(pdn));
}

static int cq(struct lab_cq *cq, u32 entries, struct ib_udata *udata)
{
	struct mlx5_ib_create_cq in = { 0 };
	int error;

	if (udata->inlen < offsetof(struct mlx5_ib_create_cq, flags))
		return -EINVAL;
	if (ib_copy_from_udata(&in, udata, min(sizeof(in), udata->inlen)))
		return -EFAULT;
	if (in.flags || in.cqe_comp_en)
		return -EOPNOTSUPP;
	if (in.cqe_size != 64 && in.cqe_size != 128)
		return -EINVAL;
	cq->ring = in.buf_addr;
	cq->entry_size = in.cqe_size;
	error = lab_memory_pin(&cq->memory, cq->ib.device, in.buf_addr, (u64)entries * in.cqe_size, in.db_addr);
	if (!error && ib_copy_to_udata(udata, &cq->object.number, sizeof(u32)))
		error = -EFAULT;
	return error;
}

#define OPCODE_RESIZED 0x50

static int resize(struct lab_cq *cq, u32 entries, struct ib_udata *udata)
{
	struct mlx5_ib_resize_cq in;

	if (ib_copy_from_udata(&in, udata, sizeof(in)))
		return -EFAULT;
	if (in.reserved0 || in.reserved1 || (in.cqe_size != 64 && in.cqe_size != 128))
		return -EINVAL;
	return lab_cq_move(cq, in.buf_addr, entries, in.cqe_size, OPCODE_RESIZED | lab_cq_odd_turn(cq));
}

static int mw(struct ib_udata *udata)
{
	struct mlx5_ib_alloc_mw in = { 0 };

	if (ib_copy_from_udata(&in, udata, min(sizeof(in), udata->inlen)))
		return -EFAULT;
	return in.comp_mask || in.reserved1 || in.reserved2 ? -EOPNOTSUPP : 0;
}

static int srq(struct lab_srq *srq, struct ib_udata *udata)
{
	u64 stride = max_t(u64, 32, roundup_pow_of_two(16 + 16 * (u64)srq->max_sge));
	struct mlx5_ib_create_srq in = { 0 };
	int error;

	if (ib_copy_from_udata(&in, udata, min(sizeof(in), udata->inlen)))
		return -EFAULT;
	if (in.reserved0 || in.reserved1 || in.flags)
		return -EINVAL;
	if (srq->ib.srq_type == IB_SRQT_XRC && in.uidx >= NO_USER_INDEX)
		return -EINVAL;
	error = lab_memory_pin(&srq->memory, srq->ib.device, in.buf_addr, srq->size * stride, in.db_addr);
	if (!error && ib_copy_to_udata(udata, &srq->object.number, sizeof(u32)))
		error = -EFAULT;
	return error;
}

/* A QP without a receive queue of its own must say so. */
static bool rq_ok(const struct ib_qp_init_attr *attr, const struct mlx5_ib_create_qp *in)
{
	bool has_rq = attr->qp_type != IB_QPT_XRC_INI && !attr->srq && attr->cap.max_recv_wr;

	if (!has_rq)
		return !in->rq_wqe_count && !in->rq_wqe_shift;
	return is_power_of_2(in->rq_wqe_count) && in->rq_wqe_count <= 32768 && in->rq_wqe_shift >= 4 &&
	       in->rq_wqe_shift <= 9;
}

static int qp(struct lab_qp *qp, const struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct mlx5_ib_create_qp in = { 0 };
	struct mlx5_ib_create_qp_resp resp = { 0 };
	int error;

	if (udata->inlen < offsetof(struct mlx5_ib_create_qp, ece_options))
		return -EINVAL;
	if (ib_copy_from_udata(&in, udata, min(sizeof(in), udata->inlen)))
		return -EFAULT;
	if (in.flags & ~(u32)MLX5_QP_FLAG_SCATTER_CQE || in.uidx >= NO_USER_INDEX)
		return -EINVAL;
	if (!rq_ok(attr, &in) || in.sq_wqe_count > SQ_UNITS || (in.sq_wqe_count && !is_power_of_2(in.sq_wqe_count)))
		return -EINVAL;
	error = lab_memory_pin(&qp->memory, qp->ib.device, in.buf_addr,
			       ((u64)in.rq_wqe_count << in.rq_wqe_shift) + (u64)in.sq_wqe_count * UNIT, in.db_addr);
	if (!error && ib_copy_to_udata(udata, &resp, min(sizeof(resp), udata->outlen)))
		error = -EFAULT;
	return error;
}

/* Kept as a power of two, rounded down; none reads back as one. */
const struct lab_model lab_mlx5 = {
	.name = "mlx5", .device_names = "mlx5_%d", .driver_id = RDMA_DRIVER_MLX5, .abi_version = 1, .part_id = 0x1017,
	.srqs_share_numbers = true, .mmap_offsets = 0xff,
	.context_response = context_response, .pd_response = pd_response, .cq = cq, .resize = resize, .srq = srq, .qp = qp,
	.mw = mw,
};
