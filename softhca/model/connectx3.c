/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The ConnectX-3, driven by libmlx4. */
#include "mlx4_cmd.h"
#include "mlx4_fmt.h"
#include "segment.h"

#include <endian.h>
#include <errno.h>

#define FDR_SPEED   16

static uint64_t sq_word(const struct ring *sq)
{
	return sq->buffer + ((uint64_t)(sq->next & (sq->count - 1)) << sq->shift);
}

/* An owner bit in each slot tells whether that slot is filled. */
static uint32_t sq_known(const struct ring *sq, uint32_t word)
{
	return sq->next + mlx4_wqe_valid(word, sq->next, sq->count);
}

static uint32_t one_slot(const uint8_t *slot)
{
	(void)slot;
	return 1;
}

static int parse_wqe(const uint8_t *bytes, size_t size, enum ibv_qp_type type, struct wqe *wqe)
{
	return mlx4_parse_wqe(bytes, size, type == IBV_QPT_UD, wqe);
}

static void build_cqe(const struct cqe *cqe, const struct cqe_format *format,
		      uint8_t out[CQE_MAX_BYTES])
{
	mlx4_build_cqe(cqe, format->turn, out);
}
/* sequence << 28 | command << 24 | consumer index */
static struct arm_request arm(uint32_t word)
{
	static const enum arm_kind kinds[8] = { [1] = ARM_SOLICITED, [2] = ARM_NEXT };
	uint32_t host = be32toh(word);

	return (struct arm_request){ kinds[host >> 24 & 7], (int)(host >> 28 & 3),
				     host & 0xffffff };
}

static bool any_transition(enum ibv_qp_state from, enum ibv_qp_state to)
{
	(void)from;
	(void)to;
	return true;
}

const struct model connectx3 = {
	.name = "connectx3",
	.title = "ConnectX-3",
	.device = "mlx4_",
	.provider = "libmlx4",
	.modalias = "pci:v000015B3d00001003sv000015B3sd00000055bc02sc80i00",
	.hca_type = "MT4099",
	.firmware = "2.42.5000",
	.board_id = "MT_1090120019",
	.rate = "56 Gb/sec (4X FDR)",
	.fw_ver = 2ull << 32 | 42ull << 16 | 5000,
	.part_id = 0x1003,
	.link_speed = FDR_SPEED,
	.ack_delay = 15,
	.timestamp_mask = 0xffffffffffff,
	.clock_khz = 427000,
	.driver_abi = 4,
	.max_groups = 8192,
	.max_group_members = 248,
	.limits = {
		.max_qp = 65472, .max_cq = 65408, .max_srq = 65472, .max_mr = 524032,
		.max_pd = 32764,
		.max_qp_wr = 16351, .max_sge = 32, .max_cqe = 4194303, .max_srq_wr = 16383,
		.max_srq_sge = 31,
		.max_qp_rd_atom = 16, .max_qp_init_rd_atom = 128,
	},
	.target_tag = 1u << 23,
	/* be32 of the number of a QP with new work; be64 of what a CQ was armed for. */
	.send_bell = { 0x14, 4 },
	.arm_bell = { 0x20, 8 },
	.context = mlx4_context,
	.device_caps = mlx4_device_caps,
	.take_cq = mlx4_take_cq,
	.take_resize = mlx4_take_resize,
	.take_srq = mlx4_take_srq,
	.take_qp = mlx4_take_qp,
	.srq_stride = mlx4_srq_stride,
	.srq_header = MLX4_SRQ_HEADER,
	.scatter_bytes = SEGMENT_BYTES,
	.parse_scatter = segment_parse_scatter,
	.sq_word = sq_word,
	.sq_known = sq_known,
	.wqe_slots = one_slot,
	.parse_wqe = parse_wqe,
	.build_cqe = build_cqe,
	.resize_opcode = 0x16,
	/* The provider leaves zeroes, which would look like completions. */
	.preset = true,
	.preset_even = 0xcc,
	.preset_odd = 0x4c,
	.arm = arm,
	.tells_send_caps = true,
	.no_flag = -EOPNOTSUPP,
	.flags_of_datagrams = true,
	.no_xrc = -ENOSYS,
	.transition = any_transition,
};
