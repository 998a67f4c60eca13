/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* What libmlx4 appends to commands, and what the mlx4 driver makes of it. */
#include "mlx4.h"
#include "segment.h"

#include <softhca/base/refuse.h>

#include <errno.h>
#include <rdma/mlx4-abi.h>
#include <string.h>

#define QP_TABLE       (1u << 18)
#define MIN_LOG_STRIDE 6u
#define MAX_LOG_STRIDE 10u
#define MAX_LOG_COUNT  15u

int mlx4_context(const void *in, size_t size, int ports, const struct limits *limits,
		 struct driver_part *out, uint8_t *cqe_version)
{
	/*
	 * The ring entries are 32 bytes; without BlueFlame every doorbell goes through the page
	 * that is polled.
	 */
	const struct mlx4_ib_alloc_ucontext_resp resp = {
		.dev_caps = MLX4_USER_DEV_CAP_LARGE_CQE, .qp_tab_size = QP_TABLE,
		.cqe_size = MLX4_CQE_SIZE,
	};

	(void)in;
	(void)size;
	(void)ports;
	(void)limits;
	*cqe_version = 0;
	model_put_part(out, &resp, sizeof(resp));
	return 0;
}

void mlx4_device_caps(struct driver_part *out)
{
	/* comp_mask 0: there is no clock page, so nobody maps it. */
	const struct mlx4_uverbs_ex_query_device_resp resp = { .response_length = sizeof(resp) };

	model_put_part(out, &resp, sizeof(resp));
}

int mlx4_take_cq(const void *in, size_t size, struct cq_place *place)
{
	const struct mlx4_ib_create_cq *driver = in;

	if (size < sizeof(*driver))
		return refuse(-EINVAL, "driver's part too short");
	*place = (struct cq_place){ driver->buf_addr, driver->db_addr, MLX4_CQE_SIZE };
	return 0;
}

int mlx4_take_resize(const void *in, size_t size, struct cq_place *place)
{
	const struct mlx4_ib_resize_cq *driver = in;

	if (size < sizeof(*driver))
		return refuse(-EINVAL, "driver's part too short");
	*place = (struct cq_place){ .buffer = driver->buf_addr, .entry = MLX4_CQE_SIZE };
	return 0;
}

int mlx4_take_srq(const void *in, size_t size, bool xrc, uint8_t cqe_version,
		  struct srq_place *place)
{
	const struct mlx4_ib_create_srq *driver = in;

	(void)xrc;
	(void)cqe_version;
	if (size < sizeof(*driver))
		return refuse(-EINVAL, "driver's part too short");
	*place = (struct srq_place){ .buffer = driver->buf_addr, .record = driver->db_addr };
	return 0;
}

/* ---- queue pairs ---- */

/* As the mlx4 driver sizes a receive queue; a QP that has none must not ask for one. */
static int size_rq(bool has_rq, const struct limits *limits, struct qp_caps *caps,
		   struct qp_rings *rings)
{
	if (!has_rq) {
		caps->max_recv_sge = 0;
		return caps->max_recv_wr
			       ? refuse(-EINVAL, "receives where there is no receive queue")
			       : 0;
	}
	if (!caps->max_recv_wr || !caps->max_recv_sge ||
	    caps->max_recv_wr > (uint32_t)limits->max_qp_wr ||
	    caps->max_recv_sge > (uint32_t)limits->max_sge)
		return refuse(-EINVAL, "size of the receive queue");
	rings->rq.count = model_pow2(caps->max_recv_wr);
	rings->rq.shift =
		(uint32_t)__builtin_ctz(model_pow2(caps->max_recv_sge * SEGMENT_BYTES));
	/* The program takes both numbers for the size of its ring. */
	caps->max_recv_wr = rings->rq.count;
	caps->max_recv_sge = model_pow2(caps->max_recv_sge);
	if (caps->max_recv_sge > (uint32_t)limits->max_sge)
		caps->max_recv_sge = (uint32_t)limits->max_sge;
	rings->max_recv_sge = caps->max_recv_sge;
	return 0;
}

static int size_sq(const struct mlx4_ib_create_qp *driver, const struct limits *limits,
		   const struct qp_caps *caps, struct qp_rings *rings)
{
	if (caps->max_send_wr > (uint32_t)limits->max_qp_wr ||
	    caps->max_send_sge > (uint32_t)limits->max_sge)
		return refuse(-EINVAL, "size of the send queue");
	if (driver->log_sq_stride < MIN_LOG_STRIDE || driver->log_sq_stride > MAX_LOG_STRIDE ||
	    driver->log_sq_bb_count > MAX_LOG_COUNT)
		return refuse(-EINVAL, "driver's size of the send queue");
	rings->sq.count = 1u << driver->log_sq_bb_count;
	rings->sq.shift = driver->log_sq_stride;
	return 0;
}

/* In one buffer, the queue with the larger stride first. */
static void place_rings(const struct mlx4_ib_create_qp *driver, struct qp_rings *rings)
{
	uint64_t rq_bytes = (uint64_t)rings->rq.count << rings->rq.shift;
	uint64_t sq_bytes = (uint64_t)rings->sq.count << rings->sq.shift;
	bool rq_first = rings->rq.count && rings->rq.shift > rings->sq.shift;

	rings->rq.buffer = driver->buf_addr + (rq_first ? 0 : sq_bytes);
	rings->sq.buffer = driver->buf_addr + (rq_first ? rq_bytes : 0);
	rings->rq.record = driver->db_addr;
}

int mlx4_take_qp(const void *in, size_t size, enum ibv_qp_type type, bool shared,
		 uint8_t cqe_version, const struct limits *limits, struct qp_caps *caps,
		 struct qp_rings *rings)
{
	const struct mlx4_ib_create_qp *driver = in;
	int err;

	(void)cqe_version;
	*rings = (struct qp_rings){ 0 };
	err = size_rq(type != IBV_QPT_XRC_SEND && type != IBV_QPT_XRC_RECV && !shared, limits, caps,
		      rings);
	if (err || type == IBV_QPT_XRC_RECV)
		return err;
	/* inl_recv_sz came later than the rest: older providers end before it. */
	if (size < offsetof(struct mlx4_ib_create_qp, inl_recv_sz))
		return refuse(-EINVAL, "driver's part too short");
	err = size_sq(driver, limits, caps, rings);
	if (!err)
		place_rings(driver, rings);
	return err;
}
