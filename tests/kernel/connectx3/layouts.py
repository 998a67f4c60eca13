# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The structures that mlx4_core, mlx4_ib and libmlx4 write into memory and read from it.

The comment of each table names its source in Linux. Names without a directory are of
drivers/net/ethernet/mellanox/mlx4.
"""

from .layout import Layout

# cmd.c: HCR_*
HCR = Layout(0x1c, in_param=(0x00, 8), in_modifier=(0x08, 4), out_param=(0x0c, 8), token=(0x14, 2),
             status=(0x18, 1), go=(0x18, 4, 23, 1), event=(0x18, 4, 22, 1),
             op_modifier=(0x18, 4, 12, 4), opcode=(0x18, 4, 0, 12))

# fw.c: INIT_HCA_*
INIT_HCA = Layout(0x200, dmpt_base=(0xf0, 8), log_mpts=(0xfb, 1), mtt_base=(0x100, 8))

# fw.c: mlx4_map_cmd. The low bits of the address are the size of the chunk.
ICM_CHUNK = Layout(16, virtual=(0, 8), physical=(8, 8, 12), log_pages=(8, 8, 0, 12))

# mlx4.h: mlx4_eq_context, mlx4_cq_context, mlx4_srq_context, mlx4_mpt_entry
EQ = Layout(0x40, log_size=(0x0c, 1), vector=(0x17, 1), log_page=(0x18, 1, 0, 6),
            mtt=(0x18, 8, 0, 40))
CQ = Layout(0x40, log_size=(0x0c, 1, 0, 5), eqn=(0x17, 1), log_page=(0x18, 1, 0, 6),
            mtt=(0x18, 8, 0, 40))
SRQ = Layout(0x40, log_size=(0x00, 1, 0, 4), log_stride=(0x04, 1, 0, 3), xrcd=(0x06, 2),
             cqn=(0x08, 4, 0, 24), log_page=(0x10, 1, 0, 6), mtt=(0x10, 8, 0, 40),
             pd=(0x18, 4, 0, 24), limit=(0x1c, 2), record=(0x28, 8))
MPT = Layout(0x40, owner=(0x00, 1, 4, 4), access=(0x00, 4, 10, 6), key=(0x08, 4),
             pd=(0x0c, 4, 0, 17), start=(0x10, 8), length=(0x18, 8), mtt=(0x2c, 8),
             log_page=(0x38, 4))

# include/linux/mlx4/qp.h: mlx4_qp_path, mlx4_qp_context
PATH = {
    "fl": (0, 3), "pkey_index": (3, 1), "counter": (4, 1), "grh_mylmc": (5, 1), "rlid": (6, 2),
    "ack_timeout": (8, 1, 3, 5), "mgid_index": (9, 1), "rate": (10, 1), "hop_limit": (11, 1),
    "tclass": (12, 4), "rgid": (16, 16), "sched_queue": (32, 1), "sl": (32, 1, 2, 4),
    "rest": (33, 11)
}
PRIMARY, ALTERNATE = 0x18, 0x44


def _path(prefix, at):
    return {f"{prefix}_{name}": (at + where[0], *where[1:]) for name, where in PATH.items()}


QP = Layout(
    0xf8, state=(0x00, 4, 28, 4), service=(0x00, 4, 16, 8), migration=(0x00, 4, 11, 2),
    pd=(0x04, 4, 0, 24), mtu=(0x08, 1, 5, 3), log_message=(0x08, 1, 0, 5), log_rq=(0x09, 1, 3, 4),
    log_rq_stride=(0x09, 1, 0, 3), log_sq=(0x0a, 1, 3, 4), log_sq_stride=(0x0a, 1, 0, 3),
    remote_qpn=(0x14, 4, 0, 24), **_path("primary", PRIMARY), **_path("alternate", ALTERNATE),
    max_reads=(0x70, 4, 21, 3), retry_count=(0x70, 4, 16, 3), rnr_retry=(0x70, 4, 13, 3),
    send_psn=(0x78, 4, 0, 24), send_cqn=(0x7c, 4, 0, 24),
    max_dest_reads=(0x90, 4, 21, 3), remote_read=(0x90, 4, 15, 1), remote_write=(0x90, 4, 14, 1),
    remote_atomic=(0x90, 4, 13, 1), rnr_timer=(0x94, 4, 24, 5), receive_psn=(0x94, 4, 0, 24),
    xrcd=(0x98, 4, 0, 24), receive_cqn=(0x9c, 4, 0, 24), record=(0xa0, 8), qkey=(0xa8, 4),
    has_srq=(0xac, 4, 24, 1), srqn=(0xac, 4, 0, 24), log_page=(0xc8, 1, 0, 6), mtt=(0xc8, 8, 0, 40))

# include/linux/mlx4/device.h: mlx4_eqe
EQE = Layout(0x20, type=(0x01, 1), subtype=(0x03, 1), number=(0x04, 4), port=(0x0c, 4, 28, 4),
             token=(0x06, 2), status=(0x0f, 1), out_param=(0x10, 8),
             owner=(0x1f, 1, 7, 1))

# include/linux/mlx4/cq.h: mlx4_cqe, mlx4_err_cqe
CQE = Layout(0x20, qpn=(0x00, 4), immediate=(0x04, 4), remote=(0x08, 4, 0, 24),
             sl=(0x0c, 2, 12, 4), slid=(0x0e, 2), bytes=(0x14, 4), index=(0x18, 2),
             syndrome=(0x1b, 1), owner=(0x1f, 1, 7, 1), is_send=(0x1f, 1, 6, 1),
             opcode=(0x1f, 1, 0, 5))

# include/linux/mlx4/qp.h: mlx4_wqe_ctrl_seg, mlx4_wqe_raddr_seg, mlx4_wqe_atomic_seg
CONTROL = Layout(16, owner=(0, 4, 31, 1), opcode=(0, 4, 0, 5), units=(7, 1, 0, 6), srqn=(8, 4, 8),
                 signalled=(8, 4, 2, 2), solicited=(8, 4, 1, 1), immediate=(12, 4))
REMOTE = Layout(16, address=(0, 8), key=(8, 4))
ATOMIC = Layout(16, swap_add=(0, 8), compare=(8, 8))

# include/linux/mlx4/device.h: mlx4_mad_ifc. InfiniBand Architecture Specification 14.2: SMPs and
# their attributes
MAD = Layout(0x100, method=(3, 1), status=(4, 2), attribute=(16, 2), modifier=(20, 4))
NODE_INFO = Layout(64, base_version=(0, 1), class_version=(1, 1), type=(2, 1), ports=(3, 1),
                   system_guid=(4, 8), node_guid=(12, 8), port_guid=(20, 8), partitions=(28, 2),
                   device=(30, 2), local_port=(36, 1), vendor=(37, 3))
PORT_INFO = Layout(64, gid_prefix=(8, 8), lid=(16, 2), sm_lid=(18, 2), capabilities=(20, 4),
                   local_port=(28, 1), width_enabled=(29, 1), width_supported=(30, 1),
                   width_active=(31, 1), speed_supported=(32, 1, 4, 4), state=(32, 1, 0, 4),
                   physical=(33, 1, 4, 4), down_default=(33, 1, 0, 4), speed_active=(35, 1, 4, 4),
                   speed_enabled=(35, 1, 0, 4), mtu=(36, 1, 4, 4), vls=(37, 1, 4, 4),
                   mtu_cap=(41, 1, 0, 4), operational_vls=(43, 1, 4, 4), guids=(50, 1),
                   subnet_timeout=(51, 1, 0, 5), response_time=(52, 1, 0, 5))
