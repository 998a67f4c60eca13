#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""ConnectX-5 adapters, each a PCI function for QEMU's vfio-user-pci. See README.md.

usage: connectx5.py [--slow=FACTOR] SOCKET...
"""

import argparse
import collections
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "adapter"))

import description  # noqa: E402
import firmware  # noqa: E402
from adapter import Wire, serve  # noqa: E402
from identity import ANSWER, ASK_OBJECT, CONFIG_SIZE, RAISE_EVENT  # noqa: E402
from mad import Answers  # noqa: E402
from memory import Guest  # noqa: E402
from structures import COMMAND_BELL, HEALTH_COUNTER, QUEUE_HIGH, QUEUE_LOW, TIMER_HIGH, TIMER_LOW  # noqa: E402
from vfio_user import CONFIG_REGION  # noqa: E402

REGISTERS = 0

# The first number of a kind, and by how many there can be. QPs and SRQs share one sequence: two that are made one after the other are neighbours.
FIRST = {"uar": (description.FIRST_UAR, description.UARS), "eq": (1, 64), "counters": (1, 256)}
SEQUENCE = ("qp", "srq", "xrc_srq", "rmp")
FIRST_IN_SEQUENCE = 0x40

# device.h: MLX5_EVENT_TYPE_*, and where mlx5_eqe_port_state has the port
EVENT_CQ_ERROR, EVENT_PORT, EVENT_SRQ_LIMIT = 0x04, 0x09, 0x14
PORT_ONE = 0x10 << 152

# What a register of ours asks for, by number; then XRC receive QPs
SRQS = ("srq", "xrc_srq", "rmp")
ASKED = (("qp",), ("cq",), SRQS)


class ConnectX5:
    """One adapter with one port."""

    sizes = {REGISTERS: description.REGISTERS_SIZE, CONFIG_REGION: CONFIG_SIZE}
    vectors = description.VECTORS

    def __init__(self, wire, lid):
        self.wire, self.lid, self.guest = wire, lid, Guest()
        self.server = None
        self.config = description.config_space()
        self.started = time.monotonic()
        self.reset()

    def reset(self):
        self.words = description.initialization_segment()
        self.command_queue, self.pages = 0, []
        self.objects = collections.defaultdict(dict)
        self.sequence = FIRST_IN_SEQUENCE
        self.answers = Answers(self.lid)

    def log(self, text):
        print(f"{time.monotonic() - self.started:.3f} lid {self.lid}: {text}", flush=True)

    def new_number(self, kind):
        if kind in SEQUENCE:
            self.sequence += 1
            return self.sequence - 1
        first, end = FIRST.get(kind, (1, 1 << 24))
        number = next((number for number in range(first, end) if number not in self.objects[kind]), None)
        if number is None:
            raise firmware.Refused(firmware.BAD_RESOURCE)
        return number

    def interrupt(self, vector):
        self.server.interrupt(vector)

    def queues_for(self, kind):
        return [queue for queue in self.objects["eq"].values() if queue.wants(kind)]

    def event(self, kind, content, subtype=0):
        for queue in self.queues_for(kind):
            queue.post(kind, content, subtype)

    # ---- what the driver reads and writes ----

    def _word(self, offset):
        ticks = int((time.monotonic() - self.started) * description.KHZ * 1000)
        moving = {TIMER_HIGH: ticks >> 32, TIMER_LOW: ticks & 0xffffffff, HEALTH_COUNTER: ticks >> 20 & 0xffffffff}
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
            self.command_queue = self.command_queue & ~(0xffffffff << shift) | int.from_bytes(data, "big") << shift
        elif offset == COMMAND_BELL:
            bell = int.from_bytes(data, "big")
            for slot in range(1 << description.LOG_COMMANDS):
                if bell >> slot & 1:
                    firmware.execute(self, slot)

    def _configure(self, offset, data):
        word = int.from_bytes(data, "little")
        if offset == ASK_OBJECT:
            numbers = dict(enumerate(sorted(self._asked(word >> 24))))
            self.config[ANSWER:ANSWER + 4] = numbers.get(word & 0xffffff, 0xffffffff).to_bytes(4, "little")
        elif offset == RAISE_EVENT:
            self._raise(word >> 24, word & 0xffffff)
        elif offset == 4 or offset >= 0x40:
            self.config[offset:offset + len(data)] = data

    def _asked(self, which):
        if which == len(ASKED):
            return [number for number, qp in self.objects["qp"].items() if qp.is_target()]
        return [number for kind in ASKED[which] for number in self.objects[kind]]

    def _raise(self, kind, number):
        """An SRQ's limit is used up by its event."""
        if kind == EVENT_SRQ_LIMIT:
            for srq in filter(None, (self.objects[name].get(number) for name in SRQS)):
                srq.limit = 0
        if kind == EVENT_PORT:
            self.event(kind, PORT_ONE, subtype=number)
        else:
            self.event(kind, number << 192 if kind == EVENT_CQ_ERROR else number)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("socket", nargs="+")
    given = parser.parse_args()
    serve(Wire(len(given.socket), given.slow, ConnectX5), given.socket)


if __name__ == "__main__":
    sys.exit(main())
