# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ConnectX-5 adapters, each a PCI function for QEMU's vfio-user-pci. See ../README.md.

usage: python3 -m connectx5.adapter [--slow=FACTOR] SOCKET...
"""

import collections
import itertools
import struct
import sys
import time

from connectx3.adapter import Function, main
from connectx3.identity import CONFIG_SIZE
from connectx3.queues import EVENT_SRQ_LIMIT
from connectx3.vfio_user import CONFIG_REGION

from . import commands, identity
from .layouts import (COMMAND_BELL, HEALTH_COUNTER, QUEUE_HIGH, QUEUE_LOW, TIMER_HIGH, TIMER_LOW)
from .objects import Keys

REGISTERS = 0

# The first number of each kind of object, if it is not 1. The key of a region is its number with
# another byte at the low end, and the key 0x100 would end a list of segments. QPs and SRQs share
# one sequence, so an SRQ that is made after a QP has the next number.
FIRST = {"uar": identity.FIRST_UAR, "mkey": 2}
SEQUENCE = ("qp", "xrc_srq", "rmp")
FIRST_IN_SEQUENCE = 0x40

# doorbell.h: MLX5_CQ_DOORBELL, MLX5_EQ_DOORBEL_OFFSET, MLX5_BF_OFFSET: offsets in each page of
# doorbells
ARM_BELL, EVENT_BELL, SEND_BELLS = 0x20, 0x40, 0x800
HALF_A_BELL = 1 << identity.LOG_SEND_BELL - 1


class ConnectX5(Function):
    """One adapter with one port."""

    sizes = {REGISTERS: identity.REGISTERS_SIZE, CONFIG_REGION: CONFIG_SIZE}
    vectors = identity.VECTORS
    config_space = staticmethod(identity.config_space)

    def reset(self):
        for qp in self.qps.values():
            self.wire.engine.forget(qp)
        self.words = identity.initialization_segment()
        self.command_queue, self.pages = 0, []
        self.objects = collections.defaultdict(dict)
        self.qps, self.cqs, self.eqs = self.objects["qp"], self.objects["cq"], self.objects["eq"]
        self.srqs = self.objects["xrc_srq"] = self.objects["rmp"] = {}
        self.keys, self.half = Keys(self), b""
        self.sequence = FIRST_IN_SEQUENCE

    def new_number(self, kind):
        if kind in SEQUENCE:
            self.sequence += 1
            return self.sequence - 1
        return next(number for number in itertools.count(FIRST.get(kind, 1))
                    if number not in self.objects[kind])

    def queues_for(self, kind):
        return [queue for queue in self.eqs.values() if queue.wants(kind)]

    def event(self, kind, **fields):
        for queue in self.queues_for(kind):
            queue.post(type=kind, **fields)

    # ---- the driver's reads and writes ----

    def _word(self, offset):
        ticks = int((time.monotonic() - self.started) * identity.KHZ * 1000)
        moving = {
            TIMER_HIGH: ticks >> 32, TIMER_LOW: ticks & 0xffffffff,
            HEALTH_COUNTER: ticks >> 20 & 0xffffffff
        }
        return moving.get(offset, self.words.get(offset, 0))

    def read(self, region, offset, size):
        if region == CONFIG_REGION:
            return bytes(self.config[offset:offset + size]).ljust(size, b"\0")
        start = offset & -4
        words = b"".join(self._word(at).to_bytes(4, "big") for at in range(start, offset + size, 4))
        return words[offset - start:offset - start + size]

    def write(self, region, offset, data):
        if region == CONFIG_REGION:
            self._configure(offset, data)
        elif offset in (QUEUE_HIGH, QUEUE_LOW):
            shift = 32 if offset == QUEUE_HIGH else 0
            self.command_queue = self.command_queue & ~(0xffffffff << shift) | int.from_bytes(
                data, "big") << shift
        elif offset == COMMAND_BELL:
            bell = int.from_bytes(data, "big")
            for slot in range(1 << identity.LOG_COMMANDS):
                if bell >> slot & 1:
                    commands.execute(self, slot)
        elif offset >= identity.FIRST_UAR * identity.PAGE:
            self._doorbell(offset % identity.PAGE, data)

    def _doorbell(self, offset, data):
        """Handles a doorbell. All have two words, which the driver may write one after the other,
        but that of event queues: in its second word no interrupt is wanted."""
        if offset & -16 == EVENT_BELL:
            word = int.from_bytes(data, "big")
            if word >> 24 in self.eqs:
                self.eqs[word >> 24].consume(word & 0xffffff, armed=not offset & 8)
            return
        if len(data) == 4 and not offset % 8:
            self.half = data
            return
        first, number = struct.unpack(">II", (self.half + data)[-8:])
        if offset >= SEND_BELLS and offset % HALF_A_BELL < 8:
            self.wire.engine.ring(self.qps.get(number >> 8))
        elif offset & -8 == ARM_BELL and number in self.cqs:
            self.cqs[number].arm(first >> 28 & 3, first >> 24 & 7, first & 0xffffff)

    def raise_event(self, kind, number):
        """Raises an event. The event of an SRQ's limit disarms the limit."""
        if kind == EVENT_SRQ_LIMIT and number in self.srqs:
            self.srqs[number].limit = 0
        super().raise_event(kind, number)


if __name__ == "__main__":
    sys.exit(main(ConnectX5, __doc__))
