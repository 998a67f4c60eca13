# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The structures that mlx5_core, mlx5_ib and libmlx5 write into memory and read from it.

The comment of each table names its source in Linux, relative to include/linux/mlx5.
Fields are (first bit, bits), counted as mlx5_ifc.h counts them: from the most significant bit of
the structure.
"""

from connectx3.layout import Layout



def table(size, **fields):
    """A Layout of @size bytes."""
    def _bytes(first, width):
        end = (first + width + 7) // 8
        return first // 8, end - first // 8, 8 * end - first - width, width

    return Layout(size, **{name: _bytes(*where) for name, where in fields.items()})


# device.h: mlx5_init_seg, offsets in bytes
FIRMWARE, COMMAND_REVISION, QUEUE_HIGH, QUEUE_LOW, COMMAND_BELL = 0x00, 0x04, 0x10, 0x14, 0x18
TIMER_HIGH, TIMER_LOW, HEALTH_COUNTER = 0x1000, 0x1004, 0x1010

# device.h: mlx5_cmd_layout has the first 16 bytes of the input and the output. The rest is in a
# chain of mlx5_cmd_prot_block.
ENTRY = table(0x40, in_length=(0x20, 32), in_blocks=(0x40, 64), out_blocks=(0x180, 64),
              out_length=(0x1c0, 32), status=(0x1f8, 7), owner=(0x1ff, 1))
BLOCK = table(0x240, next=(0x1180, 64))
BLOCK_DATA = 0x200

# mlx5_ifc.h: fields of all commands
COMMAND_IN = table(0x10, opcode=(0x00, 16), modifier=(0x30, 16), number=(0x48, 24),
                   argument=(0x60, 32))
COMMAND_OUT = table(0x10, status=(0x00, 8), number=(0x48, 24), argument=(0x60, 32))

# mlx5_ifc.h: manage_pages_in, manage_pages_out
PAGES = table(0x10, returned=(0x40, 32), count=(0x60, 32))

# mlx5_ifc.h: query_hca_vport_context_out with hca_vport_context
PORT = table(0x210, has_smi=(0x181, 1), physical_state=(0x190, 4), state=(0x19c, 4),
             system_guid=(0x1c0, 64), port_guid=(0x200, 64),
             node_guid=(0x240, 64), capabilities=(0x280, 32), lid=(0x380, 16),
             subnet_timeout=(0x39b, 5), sm_lid=(0x3a0, 16))

# mlx5_ifc.h: create_eq_in with eqc; device.h: mlx5_eqe
EQ = table(0x110, page_offset=(0xd4, 6), log_size=(0xe3, 5), vector=(0x134, 12),
           log_page=(0x143, 5), events=(0x2c0, 256))
EQE = table(0x40, type=(0x08, 8), subtype=(0x18, 8), first=(0x100, 32), port=(0x140, 4),
            number=(0x1c0, 32), owner=(0x1ff, 1))

# mlx5_ifc.h: ads
PATH = {
    "fl": (0, 1), "pkey_index": (0x10, 16), "grh": (0x28, 1), "mlid": (0x29, 7), "rlid": (0x30, 16),
    "ack_timeout": (0x40, 5), "gid_index": (0x48, 8), "rate": (0x54, 4), "hop_limit": (0x58, 8),
    "tclass": (0x64, 8), "flow": (0x6c, 20), "gid": (0x80, 128), "sl": (0x124, 4),
    "port": (0x128, 8)
}


def _path(prefix, at):
    return {f"{prefix}_{name}": (at + first, width) for name, (first, width) in PATH.items()}


# mlx5_ifc.h: qpc; create_qp_in and the transitions have it at the same offset
QP_AT = 0x18
QP = table(0xe8, state=(0x00, 4), service=(0x08, 8), migration=(0x13, 2), pd=(0x28, 24),
           mtu=(0x40, 3), log_message=(0x43, 5), log_rq=(0x49, 4), log_rq_stride=(0x4d, 3),
           no_sq=(0x50, 1), log_sq=(0x51, 4), counters=(0x60, 8), user_index=(0x88, 24),
           log_page=(0xa3, 5), remote_qpn=(0xa8, 24), **_path("primary", 0xc0),
           **_path("alternate", 0x220), max_reads=(0x388, 3), retry_count=(0x38d, 3),
           rnr_retry=(0x390, 3), send_psn=(0x3c8, 24), send_cqn=(0x3e8, 24),
           max_dest_reads=(0x488, 3), atomic_mode=(0x48c, 4), remote_read=(0x490, 1),
           remote_write=(0x491, 1), remote_atomic=(0x492, 1), page_offset=(0x494, 6),
           rnr_timer=(0x4a3, 5), receive_psn=(0x4a8, 24), xrcd=(0x4c8, 24), receive_cqn=(0x4e8, 24),
           record=(0x500, 64), qkey=(0x540, 32), receive_kind=(0x565, 3), srqn=(0x568, 24))

# mlx5_ifc.h: create_xrc_srq_in with xrc_srqc, as create_srq_in with srqc
SRQ = table(0x60, log_size=(0x84, 4), log_stride=(0xa5, 3), xrcd=(0xa8, 24), page_offset=(0xc0, 6),
            cqn=(0xc8, 24), log_page=(0x102, 6), user_index=(0x108, 24), pd=(0x148, 24),
            limit=(0x160, 16), record=(0x1c0, 64))

# mlx5_ifc.h: create_rmp_in, modify_rmp_in, query_rmp_out with rmpc and wq
RMP = table(0x110, page_offset=(0x2ab, 5), limit=(0x2b0, 16), pd=(0x2c8, 24), record=(0x300, 64),
            log_stride=(0x38c, 4), log_page=(0x393, 5), log_size=(0x39b, 5))

# mlx5_ifc.h: create_cq_in, modify_cq_in with cqc
CQ = table(0x110, entry=(0x88, 3), page_offset=(0xd4, 6), log_size=(0xe3, 5), eqn=(0x120, 32),
           log_page=(0x143, 5))

# mlx5_ifc.h: create_mkey_in with mkc
MKEY = table(0x110, free=(0x81, 1), access=(0x91, 5), mode=(0x96, 2), variant=(0xb8, 8),
             pd=(0xe8, 24), start=(0x100, 64), length=(0x140, 64), log_page=(0x25b, 5))

# device.h: mlx5_cqe64, mlx5_err_cqe
CQE = table(0x40, slid=(0xb0, 16), sl=(0xc4, 4), remote=(0xc8, 24),
            user_index=(0x108, 24), immediate=(0x120, 32), bytes=(0x160, 32), syndrome=(0x1b8, 8),
            send_opcode=(0x1c0, 8), qpn=(0x1c8, 24), index=(0x1e0, 16), kind=(0x1f8, 4),
            owner=(0x1ff, 1))

# qp.h: mlx5_wqe_ctrl_seg with the mlx5_wqe_xrc_seg that may follow
CONTROL = table(0x20, opcode=(0x18, 8), units=(0x3a, 6), signalled=(0x5c, 1), solicited=(0x5e, 1),
                immediate=(0x60, 32), srqn=(0x88, 24))
