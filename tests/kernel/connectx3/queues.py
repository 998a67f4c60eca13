# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Event queues, completion queues and the two kinds of receive queue."""

import collections

from .layouts import CQE, EQE

# include/linux/mlx4/device.h: MLX4_EVENT_TYPE_*
EVENT_COMPLETION, EVENT_ESTABLISHED, EVENT_DRAINED = 0x00, 0x02, 0x03
EVENT_PORT, EVENT_COMMAND = 0x09, 0x0a
EVENT_BAD_REQUEST, EVENT_ACCESS_ERROR, EVENT_SRQ_LIMIT = 0x10, 0x11, 0x14

# include/linux/mlx4/cq.h: MLX4_CQE_SYNDROME_*; and the opcodes of errors and of the last entry
# before a resize
LOCAL_LENGTH, FLUSHED = 0x01, 0x05
REMOTE_INVALID, REMOTE_ACCESS, RETRY_EXCEEDED = 0x12, 0x13, 0x15
CQE_ERROR, CQE_RESIZE = 0x1e, 0x16

INDEX_MASK = 0xffffff
ARM_SOLICITED = 1
SCATTER_END = 0x100  # include/linux/mlx4/qp.h: MLX4_INVALID_LKEY


class Entries:
    """A ring that the adapter fills. The owner bit in the last byte of an entry makes it valid."""

    def __init__(self, slots):
        self.ring, self.produced = slots, 0

    def put(self, entry):
        """Writes an entry to the end of its slot, which may be larger."""
        slot = self.ring.slot(self.produced)[-len(entry):]
        slot[:-1] = entry[:-1]
        slot[-1] = entry[-1]
        self.produced += 1


class EventQueue(Entries):
    """An event queue. Events that find it full wait until the driver has consumed some."""

    layout = EQE

    def __init__(self, function, context, slots):
        super().__init__(slots)
        self.function, self.vector = function, context.vector
        self.consumed, self.waiting = 0, collections.deque()
        for index in range(slots.count):
            self.layout.put(slots.slot(index), owner=1)

    def post(self, **fields):
        self.waiting.append(fields)
        self._fill()

    def consume(self, index, armed):
        """The driver has read the events before @index, of which it gives the low bits. If it wants
        an interrupt (@armed) and has left some, it gets one: mlx5_core reads 128 at a time."""
        self.consumed += index - self.consumed & INDEX_MASK
        self._fill()
        if armed and self.produced > self.consumed:
            self.function.interrupt(self.vector)

    def _fill(self):
        while self.waiting and self.produced - self.consumed < self.ring.count:
            owner = self.ring.turn(self.produced)
            self.put(self.layout.build(owner=owner, **self.waiting.popleft()))
            self.function.interrupt(self.vector)


class CompletionQueue(Entries):
    def __init__(self, function, number, context, slots):
        super().__init__(slots)
        self.function, self.number, self.eqn = function, number, context.eqn
        self.notified = 0
        self.armed = self.solicited = False
        self.last_sequence = None  # of arming; the driver changes it after an event

    def preset(self):
        """Sets each entry's owner bit so that the driver sees the entry as invalid. mlx4_core fills
        a new CQ with 0xcc itself (cq.c: mlx4_init_user_cqes)."""
        fill = (0x4c if self.ring.turn(self.produced) else 0xcc).to_bytes(1, "big")
        for index in range(self.ring.count):
            self.ring.slot(index)[:] = fill * CQE.size

    def entry(self, remote=0, srqn=0, **fields):
        """An entry. For an XRC SRQ libmlx4 reads the SRQ's number where other entries have the
        sender's, also in entries of errors."""
        return CQE.build(remote=srqn or remote, **fields)

    def post(self, solicited, **fields):
        self.put(self.entry(owner=self.ring.turn(self.produced), **fields))
        if self.armed and (solicited or not self.solicited):
            self._notify()

    def _notify(self):
        self.armed, self.notified = False, self.produced
        self.function.eqs[self.eqn].post(type=EVENT_COMPLETION, number=self.number)

    def arm(self, sequence, command, consumed):
        """Arms the CQ. If entries came since the driver looked, the event comes at once."""
        if sequence == self.last_sequence:
            return
        self.last_sequence, self.armed, self.solicited = sequence, True, command == ARM_SOLICITED
        if self.produced - consumed & INDEX_MASK and self.produced > self.notified:
            self._notify()

    def last_of_ring(self):
        return bytes([CQE_RESIZE | self.ring.turn(self.produced) << 7])

    def resize(self, slots):
        """Switches to a ring of another size. The last entry of the old ring announces the switch.
        Its index is used up in the new ring too."""
        self.put(self.last_of_ring())
        self.ring = slots
        self.preset()


def scatter_list(data):
    """The segments (bytes, key, address) up to the end of the list."""
    found = []
    for at in range(0, len(data), 16):
        size, key = int.from_bytes(data[at:at + 4], "big"), int.from_bytes(
            data[at + 4:at + 8], "big")
        if key == SCATTER_END:
            break
        found.append((size & 0x7fffffff, key, int.from_bytes(data[at + 8:at + 16], "big")))
    return found


class ReceiveQueue:
    """The receive queue of a QP. The driver counts posted receives in a record in memory."""

    def __init__(self, function, record, slots):
        self.record, self.slots, self.taken = function.guest.view(record, 4), slots, 0

    def ready(self):
        """The number of receives that are posted and not taken."""
        return (int.from_bytes(self.record, "big") - self.taken) & 0xffff

    def peek(self):
        return scatter_list(self.slots.slot(self.taken))

    def take(self):
        """Takes a receive. Returns the index that its completion names."""
        self.taken += 1
        return self.taken - 1 & self.slots.count - 1


class SharedReceiveQueue(ReceiveQueue):
    """An SRQ. The driver links the free entries: each has the index of the next."""

    def __init__(self, function, number, context, slots):
        super().__init__(function, context.record, slots)
        self.function, self.number, self.cqn = function, number, context.cqn
        self.xrcd, self.pd = context.xrcd, context.pd
        self.head = self.limit = 0

    def peek(self):
        return scatter_list(self.slots.slot(self.head)[16:])

    def take(self):
        index = self.head
        self.head = int.from_bytes(self.slots.slot(index)[2:4], "big")
        self.taken += 1
        if self.limit and self.ready() < self.limit:
            self.limit = 0
            self.function.event(EVENT_SRQ_LIMIT, number=self.number)
        return index
