# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ConnectX-3 adapters on one wire, each a PCI function for QEMU's vfio-user-pci. See ../README.md.

usage: python3 -m connectx3.adapter [--slow=FACTOR] SOCKET...
"""

import argparse
import selectors
import sys
import time

from . import commands, identity
from .engine import Engine
from .layouts import HCR
from .memory import PAGE, Guest, Icm
from .queues import EVENT_PORT
from .vfio_user import CONFIG_REGION, Server

REGISTERS, DOORBELLS = 0, 2
GO_BYTE = 0x18  # the offset in HCR of the word with the go bit

# Offsets in each page of doorbells: include/linux/mlx4/doorbell.h, libmlx4. From EVENT_BELLS on
# each of four event queues has eight bytes: mlx4_get_eq_uar() of eq.c.
SEND_BELL, ARM_BELL, EVENT_BELLS = 0x14, 0x20, 0x800


class Function:
    """One adapter with one port."""

    sizes = {
        REGISTERS: identity.REGISTERS_SIZE, DOORBELLS: identity.DOORBELLS_SIZE,
        CONFIG_REGION: identity.CONFIG_SIZE
    }
    vectors = identity.VECTORS
    has_xrc = True
    config_space = staticmethod(identity.config_space)

    def __init__(self, wire, lid):
        self.wire, self.lid, self.guest = wire, lid, Guest()
        self.server, self.qps = None, {}
        self.config = self.config_space()
        self.started = time.monotonic()
        self.reset()

    def reset(self):
        self.icm, self.keys, self.mtt_base = Icm(self.guest), None, 0
        self.eqs, self.cqs, self.srqs, self.event_queue, self.groups = {}, {}, {}, {}, {}
        for qp in self.qps.values():
            self.wire.engine.forget(qp)
        self.qps = {}
        self.register = bytearray(HCR.size)

    def log(self, text):
        print(f"{time.monotonic() - self.started:.3f} lid {self.lid}: {text}", flush=True)

    # ---- for the objects of the adapter ----

    def interrupt(self, vector):
        self.server.interrupt(vector)

    def event(self, kind, **fields):
        queue = self.eqs.get(self.event_queue.get(kind))
        if queue:
            queue.post(type=kind, **fields)

    # ---- the driver's reads and writes ----

    def read(self, region, offset, size):
        if region == CONFIG_REGION:
            return bytes(self.config[offset:offset + size]).ljust(size, b"\0")
        if region == REGISTERS and identity.HCR <= offset < identity.HCR + HCR.size:
            return bytes(self.register[offset - identity.HCR:offset - identity.HCR + size])
        return bytes(size)

    def write(self, region, offset, data):
        if region == CONFIG_REGION:
            self._configure(offset, data)
        elif region == DOORBELLS:
            self._doorbell(*divmod(offset, PAGE), int.from_bytes(data, "big"))
        elif identity.HCR <= offset < identity.HCR + HCR.size:
            at = offset - identity.HCR
            self.register[at:at + len(data)] = data
            if at == GO_BYTE and HCR.get(self.register, "go"):
                commands.execute(self, self.register)
        elif offset == identity.RESET_REGISTER:
            self.reset()

    def _configure(self, offset, data):
        word = int.from_bytes(data, "little")
        if offset == identity.RAISE_EVENT:
            self.raise_event(word >> 24, word & 0xffffff)
        elif offset == identity.ASK_OBJECT:
            numbers = dict(enumerate(sorted(self.asked(word >> 24))))
            self.config[identity.ANSWER:identity.ANSWER + 4] = numbers.get(
                word & 0xffffff, 0xffffffff).to_bytes(4, "little")
        elif offset == identity.XRC_SWITCH:
            self.has_xrc = bool(word)
        elif offset == identity.COMMAND or offset >= identity.HEADER_SIZE:
            self.config[offset:offset + len(data)] = data

    def asked(self, kind):
        targets = [number for number, qp in self.qps.items() if qp.is_target()]
        return (self.qps, self.cqs, self.srqs, targets)[kind]

    def raise_event(self, kind, number):
        if kind == EVENT_PORT:
            self.event(kind, subtype=number, port=1)
        else:
            self.event(kind, number=number)

    def _doorbell(self, page, offset, word):
        if offset == SEND_BELL:
            self.wire.engine.ring(self.qps.get(word >> 8))
        elif offset == ARM_BELL:
            cq = self.cqs.get(word >> 32 & 0xffffff)
            if cq:
                cq.arm(word >> 60 & 3, word >> 56 & 7, word & 0xffffff)
        elif offset >= EVENT_BELLS:
            queue = self.eqs.get(4 * page + (offset - EVENT_BELLS) // 8)
            if queue:
                queue.consume(word & 0xffffff, armed=word >> 31 & 1)


class Wire:
    """Adapters that reach each other, by LID."""

    def __init__(self, count, slow=1, kind=Function):
        self.engine = Engine(slow)
        self.functions = [kind(self, lid) for lid in range(1, count + 1)]

    def get(self, lid):
        return self.functions[lid - 1] if 0 < lid <= len(self.functions) else None


def serve(wire, paths):
    """Serves the adapters of the wire until QEMU closes a connection."""
    selector = selectors.DefaultSelector()
    for function, path in zip(wire.functions, paths):
        function.server = Server(path, function)
        selector.register(function.server.listener, selectors.EVENT_READ, function.server)
    while True:
        for key, _ in selector.select(wire.engine.timeout()):
            server = key.data
            if server.connection:
                server.serve()
            else:
                selector.unregister(server.listener)
                selector.register(server.accept(), selectors.EVENT_READ, server)
        wire.engine.run()


def main(kind, text):
    parser = argparse.ArgumentParser(usage=text.split("usage: ")[1])
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("socket", nargs="+")
    given = parser.parse_args()
    serve(Wire(len(given.socket), given.slow, kind), given.socket)


if __name__ == "__main__":
    sys.exit(main(Function, __doc__))
