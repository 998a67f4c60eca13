# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A minimal driver: it gives an adapter memory, commands and work, as mlx5_core, mlx5_ib and
libmlx5 do."""

import opcodes as op
from connectx5 import ARM_BELL, REGISTERS, SEND_BELLS, ConnectX5
from adapter import Wire
from bench_driver import Machine
from description import FIRST_UAR
from dispatch import OK
from firmware import EVENT_COMMAND, HEAD
from memory import PAGE
from objects import BY_PAGES
from queues import SCATTER_END
from structures import (BLOCK, BLOCK_DATA, COMMAND_BELL, COMMAND_IN, COMMAND_OUT, CONTROL, CQ, CQE,
                        ENTRY, EQ, EQE, MKEY, QP, QP_AT, QUEUE_HIGH, QUEUE_LOW, RMP, SRQ)

SIZE, QUEUE, QUESTION, REPLY, EVENTS, FREE = 1 << 20, 0x1000, 0x10000, 0x20000, 0x30000, 0x40000
BLOCK_STEP = 0x400
BELLS = FIRST_UAR * PAGE
PD, VARIANT, START, ALL = 7, 0x5a, 0x70000800, 0x1f
RC, UD, XRC = 0, 2, 3
RECEIVES, UNITS, RECEIVE_BYTES, OWN, SHARED = 4, 8, 4 * 16, 0, 1
ALL_EVENTS = (1 << 32) - 1 - (1 << EVENT_COMMAND) << 192


class Driver(Machine):
    """A driver with the command queue and its mailboxes, and one queue of each kind."""

    address = START

    def __init__(self, function=None):
        super().__init__(function or Wire(1, 1, ConnectX5).functions[0], SIZE)
        self.free = FREE
        self.write(QUEUE_HIGH, 0)
        self.write(QUEUE_LOW, QUEUE)

    def write(self, offset, word):
        self.function.write(REGISTERS, offset, word.to_bytes(4, "big"))

    def _chain(self, at, size):
        """Links blocks for @size bytes; returns their addresses."""
        found = [
            at + BLOCK_STEP * number for number in range((size + BLOCK_DATA - 1) // BLOCK_DATA)
        ]
        for here, following in zip(found, [*found[1:], 0]):
            BLOCK.put(self.memory[here:here + BLOCK.size], next=following)
        return found

    def command(self, opcode, more=b"", out_length=HEAD, slot=0, **fields):
        """Gives a command; returns the whole answer."""
        data = bytes(COMMAND_IN.build(opcode=opcode, **fields)) + more
        for number, at in enumerate(self._chain(QUESTION, len(data) - HEAD)):
            part = data[HEAD + BLOCK_DATA * number:][:BLOCK_DATA]
            self.memory[at:at + len(part)] = part
        replies = self._chain(REPLY, out_length - HEAD)
        entry = self.memory[QUEUE + slot * ENTRY.size:][:ENTRY.size]
        entry[:] = ENTRY.build(in_length=len(data), in_blocks=QUESTION, out_blocks=REPLY,
                               out_length=out_length, owner=1, question=int.from_bytes(
                                   data[:HEAD], "big"))
        self.write(COMMAND_BELL, 1 << slot)
        assert (ENTRY.get(entry, "owner"), ENTRY.get(entry, "status")) == (0, OK)
        return (bytes(entry[32:48]) +
                b"".join(bytes(self.memory[at:at + BLOCK_DATA]) for at in replies))[:out_length]

    def status(self, *words, **kw):
        return COMMAND_OUT.get(self.command(*words, **kw), "status")

    def create(self, opcode, more=b""):
        answer = self.command(opcode, more)
        assert COMMAND_OUT.get(answer, "status") == OK
        return COMMAND_OUT.get(answer, "number")

    def event_queue(self, events=0, log_size=1):
        body = EQ.build(log_size=log_size, vector=5, events=events) + EVENTS.to_bytes(8, "big")
        return self.create(op.CREATE_EQ, bytes(body[HEAD:]))

    def change(self, opcode, number, optional=0, **fields):
        body = optional.to_bytes(4, "big").ljust(QP_AT - HEAD, b"\0") + QP.build(**fields)
        return self.status(opcode, body, number=number)

    def query_qp(self, number):
        return QP.parse(self.command(op.QUERY_QP, out_length=0x110, number=number)[QP_AT:])

    # ---- memory ----

    def page(self):
        self.free += PAGE
        return self.free - PAGE

    def number_at(self, address, value=None):
        """Reads a word of a record; with @value, writes it first."""
        if value is not None:
            self.memory[address:address + 4] = (value & 0xffffffff).to_bytes(4, "big")
        return int.from_bytes(self.memory[address:address + 4], "big")

    def region(self, **fields):
        """Creates a region of one page that begins inside a page, and sets its key."""
        pages = [self.page(), self.page()]
        given = {
            "mode": BY_PAGES, "access": ALL, "pd": PD, "variant": VARIANT, "start": START,
            "length": PAGE, "log_page": 12, **fields
        }
        index = self.create(op.CREATE_MKEY, with_pages(MKEY.build(**given), *pages))
        self.key = index << 8 | VARIANT
        self.data = pages[0] + START % PAGE

    def payload(self, size, at=0):
        return self.memory[self.data + at:self.data + at + size]

    # ---- queues ----

    def completion_queue(self, log_size=2, **fields):
        self.completions, self.cq_record = self.page(), self.page()
        self.cqn = self.create(
            op.CREATE_CQ,
            with_pages(CQ.build(log_size=log_size, record=self.cq_record, eqn=self.eqn, **fields),
                       self.completions))

    def resize(self, log_size):
        self.completions = self.page()
        body = with_pages(CQ.build(log_size=log_size), self.completions)
        assert self.status(op.MODIFY_CQ, body, number=self.cqn, modifier=1) == OK

    def arm(self, sequence, command=0, consumed=0):
        word = (sequence << 28 | command << 24 | consumed) << 32 | self.cqn
        self.function.write(REGISTERS, BELLS + ARM_BELL, word.to_bytes(8, "big"))

    def completion(self, index=0, size=CQE.size):
        return CQE.parse(self.memory[self.completions + size * (index + 1) - CQE.size:][:CQE.size])

    def event(self, index=0):
        return EQE.parse(self.memory[EVENTS + EQE.size * index:][:EQE.size])

    def srq_of(self, opcode, layout, **fields):
        """Makes an SRQ; returns its number. Its entries have 32 bytes. Both are posted, the second
        for half of the region."""
        ring, record = self.page(), self.page()
        for at, segment, following in ((ring, self.segment(PAGE), 1),
                                       (ring + 32, self.segment(PAGE // 2, PAGE // 2), 0)):
            self.memory[at + 3] = following
            self.memory[at + 16:at + 32] = segment
        self.number_at(record, 2)
        body = layout.build(log_size=1, pd=PD, record=record, **fields)
        return self.create(opcode, with_pages(body, ring))

    def xrc_srq(self, xrcd, **fields):
        return self.srq_of(op.CREATE_XRC_SRQ, SRQ, log_stride=1, cqn=self.cqn, xrcd=xrcd, **fields)

    def rmp(self):
        return self.srq_of(op.CREATE_RMP, RMP, log_stride=5)

    def qp(self, service=RC, receive_kind=OWN, **fields):
        """Makes a QP. If it has receives of its own, they come before the units of sends."""
        self.ring, self.record, self.posted, self.received = self.page(), self.page(), 0, 0
        self.receives = self.ring + fields.get("page_offset", 0) * PAGE // 64
        self.sends = self.receives + (RECEIVES * RECEIVE_BYTES if receive_kind == OWN else 0)
        given = {
            "service": service, "receive_kind": receive_kind, "pd": PD, "log_rq": 2,
            "log_rq_stride": 2, "log_sq": 3, "send_cqn": self.cqn, "receive_cqn": self.cqn,
            "record": self.record, **fields
        }
        pages = [] if fields.get("no_sq") else [self.ring]
        self.qpn = self.create(op.CREATE_QP, with_pages(bytes(QP_AT) + QP.build(**given), *pages))
        return self.qpn

    def connect(self, lid, remote_qpn, to_rtr=None, **fields):
        """Takes the QP to RTS."""
        assert self.change(op.RST2INIT_QP, self.qpn, remote_write=1, remote_read=1, remote_atomic=1,
                           **fields) == OK
        assert self.change(op.INIT2RTR_QP, self.qpn, mtu=3, remote_qpn=remote_qpn, primary_rlid=lid,
                           **(to_rtr or {})) == OK
        assert self.change(op.RTR2RTS_QP, self.qpn) == OK

    def post_receive(self, size):
        at = self.receives + self.received % RECEIVES * RECEIVE_BYTES
        self.memory[at:at +
                    32] = self.segment(size) + SCATTER_END.to_bytes(8, "big").ljust(16, b"\0")
        self.received += 1
        self.number_at(self.record, self.received)

    def post_send(self, opcode, *segments, srqn=0, **fields):
        """Writes a request, around the end of the ring if needed, rings the doorbell, and lets the
        adapter run."""
        more, head = b"".join(segments), CONTROL.size if srqn else 16
        control = CONTROL.build(opcode=opcode, signalled=1, srqn=srqn,
                                units=-(-(head + len(more)) // 16), **fields)
        data = bytes(control[:head]) + more
        for start in range(0, len(data), 64):
            at = self.sends + self.posted % UNITS * 64
            self.memory[at:at + 64] = data[start:start + 64].ljust(64, b"\0")
            self.posted += 1
        self.number_at(self.record + 4, self.posted & 0xffff)
        self.function.write(REGISTERS, BELLS + SEND_BELLS, (self.qpn << 8).to_bytes(8, "big"))
        self.function.wire.engine.run()


def with_pages(body, *pages):
    """The data of a command that gives pages, without its head."""
    return bytes(body[HEAD:]).ljust(0x110 - HEAD, b"\0") + b"".join(
        page.to_bytes(8, "big") for page in pages)


def two_drivers():
    """Two adapters on a wire, each with an event queue, a CQ and a region."""
    drivers = [Driver(function) for function in Wire(2, 1, ConnectX5).functions]
    for driver in drivers:
        driver.eqn = driver.event_queue(ALL_EVENTS, log_size=4)
        driver.completion_queue()
        driver.region()
    return drivers
