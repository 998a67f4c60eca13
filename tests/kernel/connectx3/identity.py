# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The identity of a ConnectX-3: its PCI configuration, firmware, limits and port."""

import struct

from .layout import Layout, filled
from .layouts import NODE_INFO, PORT_INFO

VENDOR, DEVICE, SUBSYSTEM = 0x15b3, 0x1003, 0x0055
OUI = 0x0002c9
VECTORS = 16
REGISTERS_SIZE, DOORBELLS_SIZE, CONFIG_SIZE = 1 << 20, 8 << 20, 256
HCR, RESET_REGISTER, MSIX_TABLE = 0x80680, 0xf0010, 0x7c000
MSIX_PENDING, CLEAR_INTERRUPT, ERROR_BUFFER = 0x7d000, 0xf00d8, 0x1f000

# linux/pci_regs.h: PCI_*. A region's word has flags, and a capability its kind and the next one.
VENDOR_ID, DEVICE_ID, COMMAND, STATUS, CLASS = 0x00, 0x02, 0x04, 0x06, 0x0a
REGION_0, REGION_2, SUBSYSTEM_IDS = 0x10, 0x18, 0x2c
FIRST_CAPABILITY, INTERRUPT_PIN, HEADER_SIZE = 0x34, 0x3d, 0x40
HAS_CAPABILITIES, OTHER_NETWORK, INTX_A = 0x10, 0x0280, 1
WIDE, PREFETCHABLE = 0x4, 0x8
KIND_EXPRESS, KIND_MSIX, KIND_VENDOR = 0x10, 0x11, 0x09

# Where the capabilities are.
EXPRESS, MSIX, FOR_TESTS = 0x60, 0x9c, 0xb0

# Registers for the tests, in a vendor specific capability; ../README.md describes them.
RAISE_EVENT, ASK_OBJECT, ANSWER, XRC_SWITCH = 0xb4, 0xb8, 0xbc, 0xc0

# include/linux/mlx4/device.h: MLX4_DEV_CAP_FLAG_*, MLX4_DEV_CAP_FLAG2_* as fw.c finds them
RC_UC_UD, XRC, BAD_PKEY_COUNTER, BAD_QKEY_COUNTER = 0x7, 1 << 3, 1 << 8, 1 << 9
WINDOWS, APM, ATOMIC = 1 << 16, 1 << 17, 1 << 18
SOFTWARE_CQ_INIT = 1 << 23

LINK_4X, LINK_UP, QDR, MTU_4096 = 2, 5, 4, 5
ACTIVE = 4
INFINIBAND = 1
LOG_PKEYS, LOG_GIDS = 7, 7
DEFAULT_PREFIX = 0xfe80000000000000
CAPABILITIES = 0x02514868  # of the port (InfiniBand Architecture Specification 14.2.5.6)


def config_space():
    """The PCI configuration: the capabilities PCI Express and MSI-X, and a vendor specific one of
    ours."""
    data = bytearray(CONFIG_SIZE)
    struct.pack_into("<HH", data, VENDOR_ID, VENDOR, DEVICE)
    struct.pack_into("<H", data, STATUS, HAS_CAPABILITIES)
    struct.pack_into("<H", data, CLASS, OTHER_NETWORK)
    struct.pack_into("<I", data, REGION_0, WIDE)
    struct.pack_into("<I", data, REGION_2, WIDE | PREFETCHABLE)
    struct.pack_into("<HH", data, SUBSYSTEM_IDS, VENDOR, SUBSYSTEM)
    data[FIRST_CAPABILITY], data[INTERRUPT_PIN] = EXPRESS, INTX_A
    struct.pack_into("<BBHI", data, EXPRESS, KIND_EXPRESS, MSIX, 2, 0x8fe0)
    struct.pack_into("<I", data, EXPRESS + 0xc, 0x843)  # 8 GT/s, 4 lanes
    struct.pack_into("<H", data, EXPRESS + 0x12, 0x43)
    struct.pack_into("<BBHII", data, MSIX, KIND_MSIX, FOR_TESTS, VECTORS - 1, MSIX_TABLE,
                     MSIX_PENDING)
    struct.pack_into("<BBBB", data, FOR_TESTS, KIND_VENDOR, 0, 20, 0)
    return data


# drivers/net/ethernet/mellanox/mlx4/fw.c: QUERY_DEV_CAP_*
FLAGS = RC_UC_UD | BAD_PKEY_COUNTER | BAD_QKEY_COUNTER | WINDOWS | APM | ATOMIC
LIMITS = dict(
    log_max_srq_size=(14, 0x10, 1), log_max_qp_size=(14, 0x11, 1), log_reserved_qps=(6, 0x12, 1),
    log_max_qps=(18, 0x13, 1), log_reserved_srqs=(6, 0x14, 1, 4, 4), log_max_srqs=(16, 0x15, 1),
    log_max_cq_size=(22, 0x19, 1), log_reserved_cqs=(7, 0x1a, 1), log_max_cqs=(16, 0x1b, 1),
    log_max_mpts=(19, 0x1d, 1), log_reserved_eqs=(3, 0x1e, 1), log_max_eqs=(9, 0x1f, 1),
    log_reserved_mtts=(4, 0x20, 1, 4, 4), log_reserved_mrws=(7, 0x22, 1),
    log_max_requests=(7, 0x29, 1), log_max_responses=(4, 0x2b, 1), log_max_rdma=(24, 0x2f, 1),
    ack_delay=(15, 0x35, 1), ports=(1, 0x37, 1), log_max_message=(30, 0x38, 1),
    rates=(0xffff, 0x3c, 2), reserved_uars=(2, 0x48, 1, 4, 4), log_uar_megabytes=(3, 0x49, 1),
    log_page_size=(12, 0x4b, 1), max_sq_sge=(32, 0x51, 1), max_sq_wqe=(1008, 0x52, 2),
    max_rq_sge=(32, 0x55, 1), max_rq_wqe=(512, 0x56, 2), log_max_group_members=(8, 0x61, 1),
    log_max_groups=(13, 0x63, 1), log_max_pds=(15, 0x65, 1), log_max_xrcds=(16, 0x67, 1),
    flags2=(SOFTWARE_CQ_INIT, 0x70, 4), rdmarc_bytes=(32, 0x80, 2), qpc_bytes=(256, 0x82, 2),
    auxc_bytes=(128, 0x84, 2), altc_bytes=(64, 0x86, 2), eqc_bytes=(64, 0x88, 2),
    cqc_bytes=(64, 0x8a, 2), srqc_bytes=(64, 0x8c, 2), cmpt_bytes=(64, 0x8e, 2),
    mtt_bytes=(8, 0x90, 2), dmpt_bytes=(64, 0x92, 2), max_icm=(1 << 36, 0xa0, 8))


def query_dev_cap(has_xrc):
    return filled(Layout, 0x100, flags=(FLAGS | XRC * has_xrc, 0x44, 4), **LIMITS)


# fw.c: QUERY_FW_*, QUERY_PORT_*
ANSWERS = {
    0x4: filled(
        Layout, 0x100,
        pages=(16, 0x00, 2), major=(2, 0x02, 2), subminor=(5000, 0x04, 2), minor=(42, 0x06, 2),
        interface=(3, 0x0a, 2), log_max_commands=(4, 0x0f, 1),
        clear_interrupt=(CLEAR_INTERRUPT, 0x20, 8), error_buffer=(ERROR_BUFFER, 0x30, 8),
        error_size=(16, 0x38, 4)),
    0x43: filled(
        Layout, 0x100,
        up=(1, 0x00, 1, 7, 1), types=(INFINIBAND, 0x00, 1, 0, 2), mtu=(MTU_4096, 0x01, 1),
        ethernet_mtu=(1500, 0x02, 2), width=(3, 0x06, 1), log_gids=(LOG_GIDS, 0x07, 1, 4, 4),
        log_pkeys=(LOG_PKEYS, 0x07, 1, 0, 4), log_macs=(7, 0x0a, 1, 0, 4),
        log_vlans=(7, 0x0a, 1, 4, 4), vls=(4, 0x0b, 1), mac=(OUI << 24 | 1, 0x10, 8)),
}


def node_guid(lid):
    return OUI << 40 | 0x0300a0b000 + (lid << 8)


def port_guid(lid):
    return node_guid(lid) + 1


def node_info(lid):
    guid = node_guid(lid)
    return NODE_INFO.build(base_version=1, class_version=1, type=1, ports=1, system_guid=guid,
                           node_guid=guid, port_guid=port_guid(lid), partitions=1 << LOG_PKEYS,
                           device=DEVICE, local_port=1, vendor=OUI)


def port_info(lid):
    """The answer about the port. It is ACTIVE, so no subnet manager is needed."""
    return PORT_INFO.build(gid_prefix=DEFAULT_PREFIX, lid=lid, sm_lid=1, capabilities=CAPABILITIES,
                           local_port=1, width_enabled=3, width_supported=3, width_active=LINK_4X,
                           speed_supported=7, state=ACTIVE, physical=LINK_UP, down_default=2,
                           speed_active=QDR, speed_enabled=7, mtu=MTU_4096, vls=4, mtu_cap=MTU_4096,
                           operational_vls=4, guids=1 << LOG_GIDS, subnet_timeout=18,
                           response_time=16)
