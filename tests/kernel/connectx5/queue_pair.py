# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Queue pairs: the differences from a ConnectX-3's in context, transitions and send queue."""

import qp
from memory import Ring
from objects import ADAPTER_PAGE, pages, within
from qp import ERR, INIT, RC, RESET, RTR, RTS, SQD, SQER, UC, UD, XRC
from queues import ReceiveQueue
from structures import CONTROL, DATAGRAM, PATH, QP, QP_AT

# qp.h: MLX5_QP_ST_*; QP 0 and QP 1 send datagrams
SERVICES = {0: RC, 1: UC, 2: UD, 3: XRC, 7: UD, 8: UD}

# mlx5_ifc.h: MLX5_QPC_RQ_TYPE_*, or qp.h: MLX5_NON_ZERO_RQ, MLX5_SRQ_RQ
OWN_RECEIVES, SHARED_RECEIVES = 0, 1

UNIT, SEGMENT = 64, 16
RECORD_OF_SENDS = 4  # qp.h: MLX5_SND_DBR

PRIMARY_PATH = [f"primary_{name}" for name in PATH if name not in ("pkey_index", "ack_timeout")]
ALTERNATE_PATH = [f"alternate_{name}" for name in PATH]

# qp.h: mlx5_qp_optpar: by bit, the fields that the driver may change
OPTIONAL = {
    0: ALTERNATE_PATH,
    1: ["remote_read"],
    2: ["remote_atomic", "atomic_mode"],
    3: ["remote_write"],
    4: ["primary_pkey_index"],
    5: ["qkey"],
    6: ["rnr_timer"],
    7: PRIMARY_PATH,
    8: ["log_max_reads"],
    9: ["log_max_dest_reads"],
    10: ["migration"],
    12: ["retry_count"],
    13: ["rnr_retry"],
    14: ["primary_ack_timeout"],
    16: ["primary_port"],
    18: ["srqn"],
    19: ["receive_cqn"],
    25: ["counters"],
}

ACCESS = ["remote_read", "remote_write", "remote_atomic", "atomic_mode"]
ANY = tuple(range(7))

# mlx5_ifc.h: MLX5_CMD_OP_*_QP: old states, new state, and the fields that are taken even without an
# optional bit
CHANGES = {
    0x502: ((RESET, ), INIT, [
        "migration", "primary_pkey_index", "primary_port", "qkey", "counters", *ACCESS
    ]),
    0x50e: ((INIT, ), INIT, []),
    0x503: ((INIT, ), RTR, [
        "mtu", "log_message", "remote_qpn", "receive_psn", "log_max_dest_reads", "rnr_timer",
        *PRIMARY_PATH
    ]),
    0x504: ((RTR, ), RTS, [
        "send_psn", "primary_ack_timeout", "retry_count", "rnr_retry", "log_max_reads"
    ]),
    0x505: ((RTS, ), RTS, []),
    0x506: ((SQER, ), RTS, []),
    0x50c: ((SQD, ), RTS, []),
    0x507: (ANY, ERR, []),
    0x50a: (ANY, RESET, []),
}


class QueuePair(qp.QueuePair):
    layout, transitions, optional = QP, CHANGES, OPTIONAL
    control, datagram = CONTROL, DATAGRAM

    def __init__(self, function, number, data):
        super().__init__(function, number, data[QP_AT:QP_AT + QP.size])
        self.user_index = self.context.user_index
        self.pages = pages(function, data, self.context.log_page + ADAPTER_PAGE)

    @property
    def sl(self):
        return self.context.primary_sl

    @property
    def timeout(self):
        return self.context.primary_ack_timeout

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
