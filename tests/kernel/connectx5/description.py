# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The identity of a ConnectX-5: its PCI configuration, firmware and limits."""

import struct

import identity
from structures import (ADAPTER, ATOMIC_CAPABILITIES, COMMAND_REVISION, FIRMWARE, GENERAL, ISSI,
                        PORT, QUEUE_LOW)

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
    data = identity.config_space()
    struct.pack_into("<H", data, 0x02, DEVICE)
    struct.pack_into("<H", data, 0x2e, SUBSYSTEM)
    struct.pack_into("<Q", data, 0x18, 0)
    struct.pack_into("<BBHII", data, 0x9c, 0x11, 0, VECTORS - 1, MSIX_TABLE, MSIX_PENDING)
    struct.pack_into("<I", data, 0xb0, 0)
    return data


def initialization_segment():
    """Words by their offset. All others are zero, also the one that says "initializing"."""
    return {
        FIRMWARE: MINOR << 16 | MAJOR, COMMAND_REVISION: INTERFACE << 16 | SUBMINOR,
        QUEUE_LOW: LOG_COMMANDS << 4 | LOG_ENTRY
    }


def issi():
    return ISSI.build(supported=3)


def adapter():
    return ADAPTER.build(vendor=identity.OUI, vsd_vendor=identity.VENDOR, psid=int.from_bytes(
        b"MT_0000000008\0\0\0", "big"))


def general():
    return GENERAL.build(
        log_max_srq_size=15, log_max_qp_size=15, log_max_qps=18, log_max_srqs=23, max_fast_sgl=30,
        log_max_cq_size=22, log_max_cqs=24, log_max_eq_size=22, log_max_mkeys=24, log_max_eqs=6,
        max_indirection=30, log_max_region=64, log_max_klms=16, log_max_requests=4,
        log_max_responses=4, gid_table=4, ack_delay=16, ports=1, log_max_message=30,
        rates=0xffff, cqe_version=1, compact_address=1, umr_entity_disabled=1,
        umr_atomic_disabled=1, atomic=1, cq_ignores_overrun=1, cq_resize=1, cq_moderation=1,
        block_loopback=1, windows=1, qkey_violations=1, pkey_violations=1, xrc=1, ud=1, uc=1, rc=1,
        log_uars=11, log_page_size=12, driver_version=1, log_send_bell=LOG_SEND_BELL,
        max_sq_wqe=1024, max_rq_wqe=512, max_group_members=240, log_max_groups=21,
        log_max_transport_domains=16, log_max_pds=24, log_max_xrcds=24, khz=KHZ)


def capabilities(kind):
    if kind == CAP_GENERAL:
        return general()
    if kind == CAP_ATOMIC:
        return ATOMIC_CAPABILITIES.build(host_order=1, operations=COMPARE_AND_SWAP | FETCH_AND_ADD,
                                         qp_sizes=EIGHT_BYTES)
    return bytes(ATOMIC_CAPABILITIES.size)


def port(lid):
    """The port. It is ACTIVE, so no subnet manager is needed."""
    guid = identity.node_guid(lid)
    return PORT.build(has_smi=1, physical_state=identity.LINK_UP, state=identity.ACTIVE,
                      system_guid=guid, port_guid=guid + 1, node_guid=guid,
                      capabilities=identity.CAPABILITIES, lid=lid, subnet_timeout=18, sm_lid=1)
