/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* The ConnectX-3, driven by libmlx4. */
#include "mlx4.h"

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
	.sq_word = sq_word,
	.sq_known = sq_known,
	.wqe_slots = one_slot,
	.parse_wqe = mlx4_parse_wqe,
	.build_cqe = mlx4_build_cqe,
	.resize_opcode = 0x16,
	/* The provider leaves zeroes, which would look like completions. */
	.preset = true,
	.preset_even = 0xcc,
	.preset_odd = 0x4c,
	.arm = { [1] = ARM_SOLICITED, [2] = ARM_NEXT },
	.tells_send_caps = true,
	.no_flag = -EOPNOTSUPP,
	.flags_of_datagrams = true,
	.no_xrc = -ENOSYS,
};
