# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What the driver makes: event queues and queue pairs do something; of the others the command that made them is kept."""

from structures import EQ, EQE, PATH, QP, QP_AT

PAS_AT = 0x110  # in every command that gives pages


class Object:
    """@data is the command that made it; @limit is an SRQ's."""

    def __init__(self, function, number, data):
        self.function, self.number, self.data, self.limit = function, number, data, 0


class EventQueue(Object):
    """Its buffer is in pages whose addresses the command has."""

    def __init__(self, function, number, data):
        super().__init__(function, number, data)
        context = EQ.parse(data)
        self.vector, self.events, self.produced = context.vector, context.events, 0
        self.count, self.shift = 1 << context.log_size, context.log_page + 12
        addresses = [int.from_bytes(data[at:at + 8], "big") & -4096 for at in range(PAS_AT, len(data), 8)]
        self.pages = [function.guest.view(address, 1 << self.shift) for address in addresses]

    def wants(self, kind):
        """The bitmap counts from the first of four 64-bit words."""
        return self.events >> 64 * (3 - kind // 64) >> kind % 64 & 1

    def post(self, kind, content, subtype=0):
        at = (self.produced & self.count - 1) * EQE.size
        slot = self.pages[at >> self.shift][at & (1 << self.shift) - 1:][:EQE.size]
        entry = EQE.build(type=kind, subtype=subtype, content=content, owner=int(bool(self.produced & self.count)))
        slot[:-1] = entry[:-1]
        slot[-1] = entry[-1]  # last: it makes the entry valid
        self.produced += 1
        self.function.interrupt(self.vector)


# qp.h: mlx5_qp_state, MLX5_QP_ST_XRC
RST, INIT, RTR, RTS, SQER, SQD, ERR = range(7)
XRC = 3

PRIMARY_PATH = [f"primary_{name}" for name in PATH if name not in ("pkey_index", "ack_timeout")]
ALTERNATE_PATH = [f"alternate_{name}" for name in PATH]

# qp.h: mlx5_qp_optpar: by bit, what the driver may change
OPTIONAL = {
    0: ALTERNATE_PATH, 1: ["remote_read"], 2: ["remote_atomic", "atomic_mode"], 3: ["remote_write"], 4: ["primary_pkey_index"], 5: ["qkey"],
    6: ["rnr_timer"], 7: PRIMARY_PATH, 8: ["log_max_reads"], 9: ["log_max_dest_reads"], 10: ["migration"], 12: ["retry_count"],
    13: ["rnr_retry"], 14: ["primary_ack_timeout"], 16: ["primary_port"], 18: ["srqn"], 19: ["receive_cqn"], 25: ["counters"],
}

ACCESS = ["remote_read", "remote_write", "remote_atomic", "atomic_mode"]
ANY = tuple(range(7))

# mlx5_ifc.h: MLX5_CMD_OP_*_QP: from which states to which, and what is taken over whatever the optional bits say
CHANGES = {
    0x502: ((RST,), INIT, ["migration", "primary_pkey_index", "primary_port", "qkey", "counters", *ACCESS]),
    0x50e: ((INIT,), INIT, []),
    0x503: ((INIT,), RTR, ["mtu", "log_message", "remote_qpn", "receive_psn", "log_max_dest_reads", "rnr_timer", *PRIMARY_PATH]),
    0x504: ((RTR,), RTS, ["send_psn", "primary_ack_timeout", "retry_count", "rnr_retry", "log_max_reads"]),
    0x505: ((RTS,), RTS, []),
    0x506: ((SQER,), RTS, []),
    0x50c: ((SQD,), RTS, []),
    0x507: (ANY, ERR, []),
    0x50a: (ANY, RST, []),
}


class QueuePair(Object):
    def __init__(self, function, number, data):
        super().__init__(function, number, data)
        self.state = RST
        self.made = bytearray(data[QP_AT:QP_AT + QP.size])
        self.context = self.made

    def change(self, opcode, optional, data):
        """False: not from this state."""
        allowed, state, taken = CHANGES[opcode]
        if self.state not in allowed:
            return False
        names = taken + [name for bit, row in OPTIONAL.items() if optional >> bit & 1 for name in row]
        self.context = self.made if state == RST else QP.merge(self.context, data, QP.mask(names))
        self.state = state
        return True

    def is_target(self):
        """It receives for XRC, and never sends."""
        return QP.get(self.made, "service") == XRC and QP.get(self.made, "no_sq") == 1

    def query(self):
        data = bytearray(self.context)
        QP.put(data, state=self.state)
        return data
