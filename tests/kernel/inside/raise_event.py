#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Makes an adapter send an event to its driver, by the test register in its PCI configuration.

usage: raise_event.py ctl event DEVICE EVENT NUMBER [TIMES]
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from connectx3.identity import ACTIVE, RAISE_EVENT  # noqa: E402
from connectx3.queues import (EVENT_ACCESS_ERROR, EVENT_BAD_REQUEST, EVENT_DRAINED,  # noqa: E402
                              EVENT_ESTABLISHED, EVENT_PORT, EVENT_SRQ_LIMIT)

# include/linux/mlx4/device.h: MLX4_EVENT_TYPE_*
EVENTS = {
    "path_mig": 0x01, "comm_est": EVENT_ESTABLISHED, "sq_drained": EVENT_DRAINED, "cq_err": 0x04,
    "qp_fatal": 0x05, "path_mig_err": 0x07, "qp_req_err": EVENT_BAD_REQUEST,
    "qp_access_err": EVENT_ACCESS_ERROR, "srq_err": 0x12, "last_wqe_reached": 0x13,
    "srq_limit_reached": EVENT_SRQ_LIMIT
}

# MLX4_PORT_CHANGE_SUBTYPE_*; softhca gives the port's number there, and each adapter has one port.
PORT_STATES = {"port_err": 1, "port_active": ACTIVE}


def raise_event(device, event, number, times=1):
    config = os.open(f"/sys/class/infiniband/{device}/device/config", os.O_RDWR)
    if event in PORT_STATES:
        word = EVENT_PORT << 24 | PORT_STATES[event]
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
