/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What libmlx5 appends to commands, and what the mlx5 driver makes of it. The parts of older
 * libraries are shorter: the driver requires a least size, and takes zero for what is missing
 * behind it.
 */
#include "mlx5.h"

#include <softhca/base/refuse.h>

#include <errno.h>
#include <rdma/mlx5-abi.h>
#include <string.h>

#define QP_TABLE       (1u << 18)
#define BF_REG_SIZE    512u
#define BFREGS_PER_UAR 2u
#define MAX_BFREGS     512u
#define CACHE_LINE     64u
#define NO_USER_INDEX  0xffffffu /* sent by libraries without user indices */
#define MAX_SHIFT      31u

/* At most as much as the client sent, the rest zeroes. */
static void take_part(void *part, size_t room, const void *in, size_t size)
{
	memset(part, 0, room);
	if (size)
		memcpy(part, in, size < room ? size : room);
}

/* ---- context ---- */

static int check_context(const struct mlx5_ib_alloc_ucontext_req_v2 *req, uint32_t bfregs)
{
	if (req->flags & ~(uint32_t)MLX5_IB_ALLOC_UCTX_DEVX || req->comp_mask || req->reserved0 ||
	    req->reserved1 || req->reserved2)
		return refuse(-EOPNOTSUPP, "context flags or reserved");
	if (!bfregs || req->num_low_latency_bfregs > bfregs - 1)
		return refuse(-EINVAL, "number of doorbell registers");
	return bfregs > MAX_BFREGS ? -ENOMEM : 0;
}

int mlx5_context(const void *in, size_t size, int ports, const struct limits *limits,
		 struct driver_part *out, uint8_t *cqe_version)
{
	struct mlx5_ib_alloc_ucontext_req_v2 req;
	struct mlx5_ib_alloc_ucontext_resp resp = {
		.qp_tab_size = QP_TABLE, .bf_reg_size = BF_REG_SIZE, .cache_line_size = CACHE_LINE,
		.max_sq_desc_sz = MLX5_MAX_SQ_BYTES, .max_rq_desc_sz = MLX5_MAX_RQ_BYTES,
		.max_send_wqebb = MLX5_MAX_QUEUE,
		.max_recv_wr = MLX5_MAX_QUEUE, .max_srq_recv_wr = (uint32_t)limits->max_srq_wr + 1,
		.num_ports = (uint16_t)ports,
		.response_length = sizeof(resp), .log_uar_size = 12, .num_uars_per_page = 1,
	};
	uint32_t bfregs;
	int err;

	/* Two structures: the first had the numbers of registers only. */
	if (size != sizeof(struct mlx5_ib_alloc_ucontext_req) &&
	    size < offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version))
		return refuse(-EINVAL, "size of the driver's part");
	take_part(&req, sizeof(req), in, size);
	bfregs = (req.total_num_bfregs + BFREGS_PER_UAR - 1) & ~(BFREGS_PER_UAR - 1);
	err = check_context(&req, bfregs);
	if (err)
		return err;
	/* Not 0, which would have the library ask for its doorbell pages by ioctl. */
	resp.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_CREATE_AH;
	resp.tot_bfregs = bfregs;
	resp.cqe_version = *cqe_version = req.max_cqe_version ? 1 : 0;
	model_put_part(out, &resp, sizeof(resp));
	return 0;
}

/* Nothing: cmds_supp_uhw says that queries have no driver's part. */
void mlx5_device_caps(struct driver_part *out)
{
	out->size = 0;
}

void mlx5_answer_ah(const uint8_t mac[6], struct driver_part *out)
{
	struct mlx5_ib_create_ah_resp resp = { .response_length = sizeof(resp) };

	memcpy(resp.dmac, mac, sizeof(resp.dmac));
	model_put_part(out, &resp, sizeof(resp));
}

/* ---- completion queues ---- */

static int check_entry(uint32_t bytes)
{
	return bytes == 64 || bytes == 128 ? 0 : refuse(-EINVAL, "size of a completion");
}

int mlx5_take_cq(const void *in, size_t size, struct cq_place *place)
{
	struct mlx5_ib_create_cq req;

	if (size < offsetof(struct mlx5_ib_create_cq, flags))
		return refuse(-EINVAL, "driver's part too short");
	take_part(&req, sizeof(req), in, size);
	/*
	 * Padding, pages of its own, real time: an adapter may have them, this one has not. Nor
	 * does it compress.
	 */
	if (req.flags || req.cqe_comp_en)
		return refuse(-EOPNOTSUPP, "CQ flags or compression");
	*place = (struct cq_place){ req.buf_addr, req.db_addr, req.cqe_size };
	return check_entry(req.cqe_size);
}

int mlx5_take_resize(const void *in, size_t size, struct cq_place *place)
{
	struct mlx5_ib_resize_cq req;

	if (size < sizeof(req))
		return refuse(-EINVAL, "driver's part too short");
	take_part(&req, sizeof(req), in, size);
	if (req.reserved0 || req.reserved1)
		return refuse(-EINVAL, "reserved");
	*place = (struct cq_place){ .buffer = req.buf_addr, .entry = req.cqe_size };
	return check_entry(req.cqe_size);
}

/* ---- what the program calls its objects ---- */

/* The index must be sent if completions are to carry it, and not otherwise. */
static int take_index(uint32_t sent, uint8_t cqe_version, uint32_t *index)
{
	if (!cqe_version) {
		*index = 0;
		return sent && sent != NO_USER_INDEX ? refuse(-EINVAL, "user index") : 0;
	}
	*index = sent;
	return sent >= NO_USER_INDEX ? refuse(-EINVAL, "user index") : 0;
}

int mlx5_take_srq(const void *in, size_t size, bool xrc, uint8_t cqe_version,
		  struct srq_place *place)
{
	struct mlx5_ib_create_srq req;

	if (size < offsetof(struct mlx5_ib_create_srq, reserved0))
		return refuse(-EINVAL, "driver's part too short");
	take_part(&req, sizeof(req), in, size);
	if (req.reserved0 || req.reserved1 || req.flags)
		return refuse(-EINVAL, "SRQ flags or reserved");
	*place = (struct srq_place){ .buffer = req.buf_addr, .record = req.db_addr };
	/* A basic SRQ's completions carry the index of the QP. */
	return xrc ? take_index(req.uidx, cqe_version, &place->user_index) : 0;
}

/* ---- queue pairs ---- */

/*
 * The driver computes the receive queue's size, and the library must have the same: none if
 * receives go to an SRQ.
 */
static int size_rq(const struct mlx5_ib_create_qp *req, bool has_rq, const struct limits *limits,
		   struct qp_caps *caps, struct qp_rings *rings)
{
	if (caps->max_recv_wr > (uint32_t)limits->max_qp_wr ||
	    caps->max_recv_sge > (uint32_t)limits->max_sge)
		return refuse(-EINVAL, "size of the receive queue");
	if (!has_rq) {
		caps->max_recv_wr = caps->max_recv_sge = 0;
		return req->rq_wqe_count || req->rq_wqe_shift
			       ? refuse(-EINVAL, "receives where there is no receive queue")
			       : 0;
	}
	if (req->rq_wqe_shift > MAX_SHIFT || !req->rq_wqe_count ||
	    req->rq_wqe_count & (req->rq_wqe_count - 1) || req->rq_wqe_count > MLX5_MAX_QUEUE ||
	    1u << req->rq_wqe_shift < 16 || 1u << req->rq_wqe_shift > MLX5_MAX_RQ_BYTES)
		return refuse(-EINVAL, "driver's size of the receive queue");
	rings->rq.count = req->rq_wqe_count;
	rings->rq.shift = req->rq_wqe_shift;
	rings->max_recv_sge = (1u << req->rq_wqe_shift) / 16;
	return 0;
}

static int size_sq(const struct mlx5_ib_create_qp *req, const struct limits *limits,
		   const struct qp_caps *caps, struct qp_rings *rings)
{
	if (caps->max_send_wr > (uint32_t)limits->max_qp_wr ||
	    caps->max_send_sge > (uint32_t)limits->max_sge || req->sq_wqe_count > MLX5_MAX_QUEUE ||
	    req->sq_wqe_count & (req->sq_wqe_count - 1))
		return refuse(-EINVAL, "size of the send queue");
	rings->sq.count = req->sq_wqe_count;
	rings->sq.shift = MLX5_WQE_SHIFT;
	return 0;
}

/* The receive queue first. Both have their word in one record, the send queue the second one. */
static void place_rings(const struct mlx5_ib_create_qp *req, struct qp_rings *rings)
{
	rings->rq.buffer = req->buf_addr;
	rings->sq.buffer = req->buf_addr + ((uint64_t)rings->rq.count << rings->rq.shift);
	rings->rq.record = req->db_addr;
	rings->sq.record = req->db_addr + sizeof(uint32_t);
}

int mlx5_take_qp(const void *in, size_t size, enum ibv_qp_type type, bool shared,
		 uint8_t cqe_version, const struct limits *limits, struct qp_caps *caps,
		 struct qp_rings *rings)
{
	struct mlx5_ib_create_qp req;
	int err;

	*rings = (struct qp_rings){ 0 };
	/* The driver is not even shown what came with an XRC target. */
	if (type == IBV_QPT_XRC_RECV)
		return 0;
	if (size < offsetof(struct mlx5_ib_create_qp, ece_options))
		return refuse(-EINVAL, "driver's part too short");
	take_part(&req, sizeof(req), in, size);
	/*
	 * It may scatter small messages into completions, but does not. Other flags are not asked
	 * for.
	 */
	if (req.flags & ~(uint32_t)MLX5_QP_FLAG_SCATTER_CQE)
		return refuse(-EINVAL, "QP flags");
	err = take_index(req.uidx, cqe_version, &rings->user_index);
	if (!err)
		err = size_rq(&req, type != IBV_QPT_XRC_SEND && !shared && caps->max_recv_wr,
			      limits, caps, rings);
	if (!err)
		err = size_sq(&req, limits, caps, rings);
	if (!err)
		place_rings(&req, rings);
	return err;
}
