#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Makes an adapter send an event to its driver, by the test register in its PCI configuration.

usage: raise_event.py ctl event DEVICE EVENT NUMBER [TIMES]
"""

import os
import sys

# include/linux/mlx4/device.h: MLX4_EVENT_TYPE_*
EVENTS = {
    "path_mig": 0x01, "comm_est": 0x02, "sq_drained": 0x03, "cq_err": 0x04, "qp_fatal": 0x05,
    "path_mig_err": 0x07, "qp_req_err": 0x10, "qp_access_err": 0x11, "srq_err": 0x12,
    "last_wqe_reached": 0x13, "srq_limit_reached": 0x14
}
RAISE_EVENT = 0xb4

# MLX4_PORT_CHANGE_SUBTYPE_*; softhca gives the port's number there, and each adapter has one port.
PORT_EVENT = 0x09
PORT_STATES = {"port_err": 1, "port_active": 4}


def raise_event(device, event, number, times=1):
    config = os.open(f"/sys/class/infiniband/{device}/device/config", os.O_RDWR)
    if event in PORT_STATES:
        word = PORT_EVENT << 24 | PORT_STATES[event]
    else:
        word = EVENTS[event] << 24 | number
    for _ in range(times):
        os.pwrite(config, word.to_bytes(4, "little"), RAISE_EVENT)
    os.close(config)


def main():
    _, _, device, event, number, *times = sys.argv[1:]
    raise_event(device, event, int(number, 0), int(times[0]) if times else 1)


if __name__ == "__main__":
    sys.exit(main())
