# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The identity of a ConnectX-5: its PCI configuration, firmware and limits."""

import struct

from connectx3 import identity as base
from connectx3.layout import filled

from .layouts import COMMAND_REVISION, FIRMWARE, PORT, QUEUE_LOW, table

DEVICE, SUBSYSTEM = 0x1017, 0x0008
VECTORS = 16
MSIX_TABLE, MSIX_PENDING = 0x3000, 0x3800

# The initialization segment is the beginning of the only region; pages of doorbells (UAR) follow
# from this one on.
REGISTERS_SIZE, FIRST_UAR, PAGE = 8 << 20, 0x10, 4096

MAJOR, MINOR, SUBMINOR, INTERFACE = 16, 35, 4030, 5
LOG_COMMANDS, LOG_ENTRY = 5, 6
KHZ = 156250

# The firmware's own pages: before the limits are set, and after.
BOOT_PAGES, INIT_PAGES = 8, 32

# Bytes of a register for send doorbells (log_bf_reg_size). Programs ring in both halves of it, in
# turn. Linux 7.2 reads the size without BlueFlame, too.
LOG_SEND_BELL = 9

# cmd.h, device.h: MLX5_CAP_*
CAP_GENERAL, CAP_ATOMIC = 0x0, 0x3
COMPARE_AND_SWAP, FETCH_AND_ADD, EIGHT_BYTES = 1, 2, 8


def config_space():
    """The PCI configuration of the other adapter, with one region. The test capability is left
    out, because the driver would take it for its own."""
    data = base.config_space()
    struct.pack_into("<H", data, base.DEVICE_ID, DEVICE)
    struct.pack_into("<HH", data, base.SUBSYSTEM_IDS, base.VENDOR, SUBSYSTEM)
    struct.pack_into("<Q", data, base.REGION_2, 0)
    struct.pack_into("<BBHII", data, base.MSIX, base.KIND_MSIX, 0, VECTORS - 1, MSIX_TABLE,
                     MSIX_PENDING)
    struct.pack_into("<I", data, base.FOR_TESTS, 0)
    return data


def initialization_segment():
    """Words by their offset. All others are zero, also the one that says "initializing"."""
    return {
        FIRMWARE: MINOR << 16 | MAJOR, COMMAND_REVISION: INTERFACE << 16 | SUBMINOR,
        QUEUE_LOW: LOG_COMMANDS << 4 | LOG_ENTRY
    }


# include/linux/mlx5/mlx5_ifc.h: query_issi_out, query_adapter_out
def issi():
    return filled(table, 0x70, supported=(3, 0x360, 32))


def adapter():
    return filled(
        table, 0x110,
        vendor=(base.OUI, 0x148, 24), vsd_vendor=(base.VENDOR, 0x170, 16),
        psid=(int.from_bytes(b"MT_0000000008\0\0\0", "big"), 0x800, 128))


# mlx5_ifc.h: cmd_hca_cap, atomic_caps
CAPABILITIES = {
    CAP_GENERAL: filled(
        table, 0x1000,
        log_max_srq_size=(15, 0x80, 8), log_max_qp_size=(15, 0x88, 8), log_max_qps=(18, 0x9b, 5),
        log_max_srqs=(23, 0xab, 5), max_fast_sgl=(30, 0xc0, 8), log_max_cq_size=(22, 0xc8, 8),
        log_max_cqs=(24, 0xdb, 5), log_max_eq_size=(22, 0xe0, 8), log_max_mkeys=(24, 0xea, 6),
        log_max_eqs=(6, 0xfc, 4), max_indirection=(30, 0x100, 8), log_max_region=(64, 0x109, 7),
        log_max_klms=(16, 0x11a, 6), log_max_requests=(4, 0x14a, 6),
        log_max_responses=(4, 0x15a, 6), gid_table=(4, 0x170, 16), ack_delay=(16, 0x1ab, 5),
        ports=(1, 0x1b8, 8), log_max_message=(30, 0x1c3, 5), rates=(0xffff, 0x1e0, 16),
        cqe_version=(1, 0x1fc, 4), compact_address=(1, 0x200, 1), umr_entity_disabled=(1, 0x207, 1),
        umr_atomic_disabled=(1, 0x208, 1), atomic=(1, 0x21e, 1), cq_ignores_overrun=(1, 0x220, 1),
        cq_resize=(1, 0x221, 1), cq_moderation=(1, 0x222, 1), block_loopback=(1, 0x228, 1),
        windows=(1, 0x231, 1), qkey_violations=(1, 0x236, 1), pkey_violations=(1, 0x237, 1),
        xrc=(1, 0x23c, 1), ud=(1, 0x23d, 1), uc=(1, 0x23e, 1), rc=(1, 0x23f, 1),
        log_uars=(11, 0x24a, 6), log_page_size=(12, 0x258, 8), driver_version=(1, 0x261, 1),
        log_send_bell=(LOG_SEND_BELL, 0x26b, 5), max_sq_wqe=(1024, 0x290, 16),
        max_rq_wqe=(512, 0x2b0, 16), max_group_members=(240, 0x2e7, 25),
        log_max_groups=(21, 0x318, 8), log_max_transport_domains=(16, 0x323, 5),
        log_max_pds=(24, 0x32b, 5), log_max_xrcds=(24, 0x33b, 5), khz=(KHZ, 0x4e0, 32)),
    CAP_ATOMIC: filled(
        table, 0x1000,
        host_order=(1, 0x40, 2), operations=(COMPARE_AND_SWAP | FETCH_AND_ADD, 0x90, 16),
        qp_sizes=(EIGHT_BYTES, 0xb0, 16)),
}


def capabilities(kind):
    return CAPABILITIES.get(kind, bytes(0x1000))


def port(lid):
    """The port. It is ACTIVE, so no subnet manager is needed."""
    guid = base.node_guid(lid)
    return PORT.build(has_smi=1, physical_state=base.LINK_UP, state=base.ACTIVE,
                      system_guid=guid, port_guid=guid + 1, node_guid=guid,
                      capabilities=base.CAPABILITIES, lid=lid, subnet_timeout=18, sm_lid=1)
