# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Queue pairs: their context, the fields that each transition takes from the driver's, and their
send queue."""

from types import SimpleNamespace

from .layouts import ATOMIC, CONTROL, PATH, QP, REMOTE
from .memory import Ring, Translation
from .queues import CQE_ERROR, FLUSHED, ReceiveQueue

# include/linux/mlx4/qp.h: mlx4_qp_state, MLX4_QP_ST_*
RESET, INIT, RTR, RTS, SQER, SQD, ERR, DRAINING = range(8)
RECEIVING = (RTR, RTS, SQER, SQD, DRAINING)
RC, XRC = 0, 6

PRIMARY_PATH = [
    f"primary_{name}" for name in PATH if name not in ("pkey_index", "ack_timeout", "counter")
]
ALTERNATE_PATH = [f"alternate_{name}" for name in PATH]

# include/linux/mlx4/qp.h: mlx4_qp_optpar: by bit, the fields that the driver may change
OPTIONAL = {
    0: ALTERNATE_PATH,
    1: ["remote_read"],
    2: ["remote_atomic"],
    3: ["remote_write"],
    4: ["primary_pkey_index"],
    5: ["qkey"],
    6: ["rnr_timer"],
    7: PRIMARY_PATH,
    8: ["max_reads"],
    9: ["max_dest_reads"],
    10: ["migration"],
    12: ["retry_count"],
    13: ["rnr_retry"],
    14: ["primary_ack_timeout"],
    16: ["primary_sched_queue"],
    20: ["primary_counter"],
}

# include/linux/mlx4/cmd.h: MLX4_CMD_*_QP: the new state, and the fields that are taken even without
# an optional bit
TRANSITIONS = {
    0x19: (INIT, list(QP.fields)),
    0x2d: (INIT, []),
    0x1a: (RTR, ["mtu", "log_message", "remote_qpn", "receive_psn", *PRIMARY_PATH]),
    0x1b: (RTS, ["send_psn"]),
    0x1c: (RTS, []),
    0x1d: (RTS, []),
    0x1f: (SQD, []),
    0x38: (SQD, []),
    0x20: (RTS, []),
    0x1e: (ERR, []),
}

# include/linux/mlx4/device.h: MLX4_OPCODE_*
WRITE, WRITE_IMMEDIATE, SEND, SEND_IMMEDIATE = 0x08, 0x09, 0x0a, 0x0b
READ, COMPARE_SWAP, FETCH_ADD = 0x10, 0x11, 0x12
ATOMICS = (COMPARE_SWAP, FETCH_ADD)
INLINE = 1 << 31
TARGET = 1 << 23  # in the number of an XRC receive QP


def gather_list(data, at, end):
    """The data of a request: bytes that the request contains, or (bytes, key, address)."""
    found = []
    while at + 4 <= end:
        size = int.from_bytes(data[at:at + 4], "big")
        if not size & INLINE or size == INLINE:
            if size != INLINE:
                found.append((size, int.from_bytes(
                    data[at + 4:at + 8], "big"), int.from_bytes(data[at + 8:at + 16], "big")))
            at += 16
            continue
        size &= ~INLINE
        found.append(bytes(data[at + 4:at + 4 + size]))
        at += 4 + size
        at += -at % 16
    return found


class QueuePair:
    """A queue pair. @made is its context in RESET."""

    layout, transitions, optional = QP, TRANSITIONS, OPTIONAL
    control = CONTROL

    def __init__(self, function, number, made=bytes(QP.size)):
        self.function, self.number, self.made = function, number, made
        self.reset()

    def reset(self):
        self.state, self.data = RESET, bytearray(self.made)
        self.context = self.parsed()
        self.send_ring = self.receives = None
        self.sent = 0
        self.established = False
        self.since = None  # when the waiting request was tried first, or the peer last answered

    def is_target(self):
        """Whether the QP is an XRC target, which receives and never sends."""
        return bool(self.number & TARGET)

    def parsed(self):
        return self.layout.parse(self.data)

    def change(self, opcode, optional, data):
        """Makes a transition, which the driver allows from this state."""
        state, taken = self.transitions[opcode]
        if state == RESET:
            self.reset()
            return
        names = taken + [
            name for bit, row in self.optional.items() if optional >> bit & 1 for name in row
        ]
        self.data = self.layout.merge(self.query(), data, self.layout.mask(names))
        fresh = self.state == RESET
        self.state = state
        self.context = self.parsed()
        if fresh and state == INIT and not self.is_target():
            self.find_rings()

    def query(self):
        data = bytearray(self.data)
        self.layout.put(data, state=self.state, send_psn=self.context.send_psn,
                        receive_psn=self.context.receive_psn)
        return data

    def find_rings(self):
        """Finds the two queues in the buffer. The one with the larger entries comes first."""
        context = self.context
        pages = Translation(self.function.icm, self.function.mtt_base + context.mtt,
                            context.log_page + 12)
        send, receive = 16 << context.log_sq_stride, 16 << context.log_rq_stride
        first = receive > send
        has_receives = bool(context.record) and not context.has_srq and context.service != XRC
        before = receive << context.log_rq if has_receives and first else 0
        self.send_ring = Ring(pages, 1 << context.log_sq, send, before)
        if has_receives:
            slots = Ring(pages, 1 << context.log_rq, receive,
                         0 if first else send << context.log_sq)
            self.receives = ReceiveQueue(self.function, context.record, slots)

    def request(self):
        """The next request, parsed; None: there is none."""
        slot = self.send_ring.slot(self.sent)
        if CONTROL.get(slot, "owner") != self.send_ring.turn(self.sent):
            return None
        return self.parse(bytes(slot), CONTROL.size)

    def parse(self, data, at):
        """Parses a request whose segments follow its head from @at on. The request takes @slots of
        the ring."""
        request = SimpleNamespace(**vars(self.control.parse(data)), key=0, address=0, atomic=None,
                                  slots=1)
        if request.opcode in (WRITE, WRITE_IMMEDIATE, READ, *ATOMICS):
            remote = REMOTE.parse(data[at:])
            request.address, request.key = remote.address, remote.key
            at += REMOTE.size
            if request.opcode in ATOMICS:
                request.atomic = ATOMIC.parse(data[at:])
                at += ATOMIC.size
        request.gather = gather_list(data, at, min(16 * request.units, len(data)))
        return request

    # ---- completions ----

    def complete_send(self, request, size=0, syndrome=0):
        """Writes the completion of a send."""
        index, self.sent = self.sent, self.sent + request.slots
        self.since = None
        cq = self.function.cqs.get(self.context.send_cqn)
        if syndrome:
            cq.post(True, qpn=self.number, index=index & 0xffff, syndrome=syndrome, is_send=1,
                    opcode=CQE_ERROR)
        elif request.signalled:
            cq.post(False, qpn=self.number, bytes=size, index=index & 0xffff, is_send=1,
                    opcode=request.opcode)

    def fail(self):
        self.state = ERR
        self.flush()

    def flush(self):
        """Completes all requests of a QP in the error state as flushed."""
        while self.send_ring and (request := self.request()):
            self.complete_send(request, syndrome=FLUSHED)
