# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Commands of the adapter that the tests give (include/linux/mlx4/cmd.h: MLX4_CMD_*)."""

QUERY_DEV_CAP, INIT_HCA, SW2HW_MPT, HW2SW_MPT = 0x3, 0x7, 0xd, 0xf
MAP_EQ, SW2HW_EQ, SW2HW_CQ, SW2HW_SRQ, MAP_ICM = 0x12, 0x13, 0x16, 0x35, 0xffa
RST2INIT_QP, INIT2RTR_QP, RTR2RTS_QP, RTS2RTS_QP = 0x19, 0x1a, 0x1b, 0x1c
