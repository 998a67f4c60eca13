# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Queue pairs: the differences from a ConnectX-3's in context, transitions and send queue."""

from connectx3 import qp as base
from connectx3.memory import Ring
from connectx3.qp import ERR, INIT, RC, RESET, RTR, RTS, XRC
from connectx3.queues import ReceiveQueue

from .layouts import CONTROL, PATH, QP, QP_AT
from .objects import ADAPTER_PAGE, pages, within

# qp.h: MLX5_QP_ST_*
SERVICES = {0: RC, 3: XRC}

# mlx5_ifc.h: MLX5_QPC_RQ_TYPE_*, or qp.h: MLX5_NON_ZERO_RQ, MLX5_SRQ_RQ
OWN_RECEIVES, SHARED_RECEIVES = 0, 1

UNIT, SEGMENT = 64, 16
RECORD_OF_SENDS = 4  # qp.h: MLX5_SND_DBR

PRIMARY_PATH = [f"primary_{name}" for name in PATH if name not in ("pkey_index", "ack_timeout")]
ALTERNATE_PATH = [f"alternate_{name}" for name in PATH]

# qp.h: mlx5_qp_optpar, as far as they differ from a ConnectX-3's
OPTIONAL = {
    **base.OPTIONAL,
    0: ALTERNATE_PATH,
    2: ["remote_atomic", "atomic_mode"],
    7: PRIMARY_PATH,
    16: ["primary_port"],
    18: ["srqn"],
    19: ["receive_cqn"],
    20: [],
    25: ["counters"],
}

ACCESS = ["remote_read", "remote_write", "remote_atomic", "atomic_mode"]

# mlx5_ifc.h: MLX5_CMD_OP_*_QP: the new state, and the fields that are taken even without an
# optional bit
CHANGES = {
    0x502: (INIT, [
        "migration", "primary_pkey_index", "primary_port", "qkey", "counters", *ACCESS
    ]),
    0x50e: (INIT, []),
    0x503: (RTR, [
        "mtu", "log_message", "remote_qpn", "receive_psn", "max_dest_reads", "rnr_timer",
        *PRIMARY_PATH
    ]),
    0x504: (RTS, [
        "send_psn", "primary_ack_timeout", "retry_count", "rnr_retry", "max_reads"
    ]),
    0x505: (RTS, []),
    0x506: (RTS, []),
    0x50c: (RTS, []),
    0x507: (ERR, []),
    0x50a: (RESET, []),
}


class QueuePair(base.QueuePair):
    layout, transitions, optional = QP, CHANGES, OPTIONAL
    control = CONTROL

    def __init__(self, function, number, data):
        super().__init__(function, number, data[QP_AT:QP_AT + QP.size])
        self.user_index = self.context.user_index
        self.pages = pages(function, data, self.context.log_page + ADAPTER_PAGE)

    def is_target(self):
        return self.context.service == XRC and bool(self.context.no_sq)

    def parsed(self):
        context = super().parsed()
        context.service = SERVICES.get(context.service)
        context.has_srq = context.receive_kind == SHARED_RECEIVES and context.service != XRC
        return context

    def find_rings(self):
        """Finds the two queues in the buffer. Receives come first. A send queue consists of units;
        a request takes one or more."""
        context, offset = self.context, within(self.context)
        if context.receive_kind == OWN_RECEIVES:
            slots = Ring(self.pages, 1 << context.log_rq, SEGMENT << context.log_rq_stride, offset)
            self.receives = ReceiveQueue(self.function, context.record, slots)
            offset += slots.count * slots.size
        if not context.no_sq:
            self.send_ring = Ring(self.pages, 1 << context.log_sq, UNIT, offset)
            self.posted = self.function.guest.view(context.record + RECORD_OF_SENDS, 4)

    def request(self):
        """The next request. The record counts the units that are posted. A request may continue at
        the beginning of the ring."""
        if not int.from_bytes(self.posted, "big") - self.sent & 0xffff:
            return None
        segments = CONTROL.get(self.send_ring.slot(self.sent), "units")
        units = max(1, -(-segments * SEGMENT // UNIT))
        data = b"".join(bytes(self.send_ring.slot(self.sent + number)) for number in range(units))
        request = self.parse(data, CONTROL.size if self.context.service == XRC else SEGMENT)
        request.slots = units
        return request
