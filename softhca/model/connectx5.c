/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The ConnectX-5, driven by libmlx5. */
#include "mlx5.h"

#include <endian.h>
#include <errno.h>

#define EDR_SPEED 32
#define ARM_NEVER 0x3f000000u

/* Send queues have no owner bits: their record counts the units that were posted. */
static uint64_t sq_word(const struct ring *sq)
{
	return sq->record;
}

static uint32_t sq_known(const struct ring *sq, uint32_t word)
{
	return sq->next + (uint16_t)(be32toh(word) - sq->next);
}

const struct model connectx5 = {
	.name = "connectx5",
	.title = "ConnectX-5",
	.device = "mlx5_",
	.provider = "libmlx5",
	.modalias = "pci:v000015B3d00001017sv000015B3sd00000008bc02sc00i00",
	.hca_type = "MT4119",
	.firmware = "16.35.2000",
	.board_id = "MT_0000000008",
	.rate = "100 Gb/sec (4X EDR)",
	.fw_ver = 16ull << 32 | 35ull << 16 | 2000,
	.part_id = 0x1017,
	.link_speed = EDR_SPEED,
	.ack_delay = 16,
	.timestamp_mask = 0x7fffffffffffffff,
	.clock_khz = 78125,
	.stamps_all = true,
	.driver_abi = 1,
	.max_groups = 2097152,
	.max_group_members = 240,
	.limits = {
		.max_qp = 131072, .max_cq = 65408, .max_srq = 65472, .max_mr = 524032,
		.max_pd = 32764,
		.max_qp_wr = MLX5_MAX_QUEUE, .max_sge = 30, .max_cqe = 4194303,
		.max_srq_wr = MLX5_MAX_QUEUE - 1, .max_srq_sge = 31,
		.max_qp_rd_atom = 16, .max_qp_init_rd_atom = 16,
	},
	.one_sequence = true,
	/* The first bytes of a WQE; be64 of what a CQ was armed for. */
	.send_bell = { 0x800, 8 },
	.arm_bell = { 0x20, 8 },
	.mmap_commands = true,
	.context = mlx5_context,
	.device_caps = mlx5_device_caps,
	.answer_ah = mlx5_answer_ah,
	.take_cq = mlx5_take_cq,
	.take_resize = mlx5_take_resize,
	.take_srq = mlx5_take_srq,
	.take_qp = mlx5_take_qp,
	.whole_srqs = true,
	.sq_word = sq_word,
	.sq_known = sq_known,
	.wqe_slots = mlx5_wqe_units,
	.parse_wqe = mlx5_parse_wqe,
	.build_cqe = mlx5_build_cqe,
	.tells_packet = true,
	.resize_opcode = 5,
	/* Command and sequence are both 0 in the first arming of a CQ. */
	.arm = { [0] = ARM_NEXT, [1] = ARM_SOLICITED },
	/*
	 * The first arming writes a record full of zeroes, so a CQ that was never armed has this
	 * value instead.
	 */
	.arm_never = ARM_NEVER,
	.no_flag = -EINVAL,
	.no_xrc = -EOPNOTSUPP,
	.never_drains = true,
};
