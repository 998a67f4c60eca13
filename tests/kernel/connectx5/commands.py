# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The command queue of mlx5_core and mlx5_ib. Each command is a function of one table."""

from connectx3 import mad
from connectx3.dispatch import OK, Commands

from . import identity
from .layouts import BLOCK, BLOCK_DATA, COMMAND_IN, COMMAND_OUT, ENTRY, PAGES, QP, QP_AT, RMP, SRQ
from .objects import CompletionQueue, EventQueue, Object, Region, Rmp, XrcSrq
from .qp import CHANGES, QueuePair

# device.h: MLX5_EVENT_TYPE_CMD
EVENT_COMMAND = 0x0a

# cq.h: MLX5_CQ_OPMOD_RESIZE
RESIZE = 1

# manage_pages_in: op_mod
GIVE, TAKE_BACK = 1, 2

HEAD = 16
COMMANDS = Commands()
command = COMMANDS.add


class Call:
    """One command. @data is its whole input. Its function returns the output without the first
    eight bytes."""

    def __init__(self, function, data):
        self.function, self.data = function, data
        self.__dict__.update(vars(COMMAND_IN.parse(data)))

    def of(self, kind):
        return self.function.objects[kind][self.number]

    def run(self):
        """Runs the command; returns the answer."""
        status, result = COMMANDS.run(self)
        return bytes(COMMAND_OUT.build(status=status)[:8]) + (result or b"")


def output(**fields):
    return bytes(COMMAND_OUT.build(**fields)[8:])


def blocks(guest, at, size):
    """Views of the data in a chain of blocks."""
    while size > 0:
        block = guest.view(at, BLOCK.size)
        yield block[:min(size, BLOCK_DATA)]
        at, size = BLOCK.get(block, "next"), size - BLOCK_DATA


def execute(function, slot):
    """Executes one entry of the queue, which the driver has given to the adapter. The driver polls
    for the owner bit, or waits for the event."""
    entry = function.guest.view(function.command_queue + (slot << identity.LOG_ENTRY),
                                ENTRY.size)
    asked = ENTRY.parse(entry)
    data = bytes(entry[16:32]) + b"".join(
        bytes(part) for part in blocks(function.guest, asked.in_blocks, asked.in_length - HEAD))
    before = function.queues_for(EVENT_COMMAND)
    answer = Call(function, data[:asked.in_length]).run().ljust(asked.out_length,
                                                                b"\0")[:asked.out_length]
    entry[32:48] = answer[:HEAD].ljust(HEAD, b"\0")
    at = HEAD
    for part in blocks(function.guest, asked.out_blocks, asked.out_length - HEAD):
        part[:] = answer[at:at + len(part)]
        at += len(part)
    ENTRY.put(entry, status=OK, owner=0)
    # A command that creates or destroys the event queue of command completions completes without
    # an event: the driver polls for it.
    for queue in function.queues_for(EVENT_COMMAND):
        if queue in before:
            queue.post(type=EVENT_COMMAND, first=1 << slot)


# ---- firmware, limits, pages ----

# These commands need no work here. With ACCESS_REG all registers read as zero.
NOTHING = {"INIT_HCA": 0x102, "TEARDOWN_HCA": 0x103, "ENABLE_HCA": 0x104, "DISABLE_HCA": 0x105,
           "SET_HCA_CAP": 0x109, "SET_ISSI": 0x10b, "SET_DRIVER_VERSION": 0x10d,
           "ACCESS_REG": 0x805, "NOP": 0x80d, "QUERY_Q_COUNTER": 0x773, "ATTACH_TO_MCG": 0x806,
           "DETACH_FROM_MCG": 0x807, "QUERY_SPECIAL_CONTEXTS": 0x203}


@command(*NOTHING.values())
def nothing(_call):
    return None


@command(0x10a)
def query_issi(_call):
    return identity.issi()[8:]


@command(0x100)
def query_hca_cap(call):
    return bytes(8) + identity.capabilities(call.modifier >> 1)


@command(0x101)
def query_adapter(_call):
    return identity.adapter()[8:]


@command(0x107)
def query_pages(call):
    """Answers how many more pages the adapter wants now."""
    wanted = {1: identity.BOOT_PAGES, 2: identity.INIT_PAGES}.get(call.modifier, 0)
    return output(argument=wanted)


@command(0x108)
def manage_pages(call):
    pages = call.function.pages
    count = PAGES.get(call.data, "count")
    if call.modifier == GIVE:
        pages += [call.data[at:at + 8] for at in range(HEAD, HEAD + 8 * count, 8)]
    elif call.modifier == TAKE_BACK:
        given, pages[:] = pages[:count], pages[count:]
        return bytes(PAGES.build(returned=len(given))[8:]) + b"".join(given)
    return None


@command(0x50d)
def mad_ifc(call):
    return bytes(8) + mad.answer(call.function.lid, call.data[HEAD:])


@command(0x762)
def query_port(call):
    return bytes(identity.port(call.function.lid)[8:])


# ---- creating and destroying objects ----

KINDS = {
    "mkey": (0x200, 0x202), "eq": (0x301, 0x302), "cq": (0x400, 0x401), "qp": (0x500, 0x501),
    "xrc_srq": (0x705, 0x706), "rmp": (0x90c, 0x90e), "pd": (0x800, 0x801), "uar": (0x802, 0x803),
    "xrcd": (0x80e, 0x80f), "transport_domain": (0x816, 0x817), "counters": (0x771, 0x772)
}
CREATED = {create: kind for kind, (create, _) in KINDS.items()}
DESTROYED = {destroy: kind for kind, (_, destroy) in KINDS.items()}
MADE_BY = {
    "mkey": Region, "eq": EventQueue, "cq": CompletionQueue, "qp": QueuePair, "xrc_srq": XrcSrq,
    "rmp": Rmp
}


@command(*CREATED)
def create(call):
    kind = CREATED[call.opcode]
    number = call.function.new_number(kind)
    call.function.objects[kind][number] = MADE_BY.get(kind, Object)(call.function, number,
                                                                    call.data)
    return output(number=number)


@command(*DESTROYED)
def destroy(call):
    kind = DESTROYED[call.opcode]
    gone = call.of(kind)
    if kind == "qp":
        call.function.wire.engine.forget(gone)
    del call.function.objects[kind][call.number]


@command(0x403)
def modify_cq(call):
    cq = call.of("cq")
    if call.modifier == RESIZE:
        cq.resize_by(call.data)


@command(0x707)
def query_srq(call):
    return bytes(8) + bytes(SRQ.build(limit=call.of("xrc_srq").limit)[HEAD:])


@command(0x708)
def arm_srq(call):
    call.of("xrc_srq").limit = call.argument & 0xffff


@command(0x90f)
def query_rmp(call):
    return bytes(RMP.build(limit=call.of("rmp").limit)[8:])


@command(0x90d)
def modify_rmp(call):
    """Modifies an RMP, which is the driver's object for an ordinary SRQ."""
    call.of("rmp").limit = RMP.get(call.data, "limit")


# ---- QPs ----

@command(*CHANGES)
def change_qp(call):
    optional = int.from_bytes(call.data[HEAD:HEAD + 4], "big")
    qp = call.of("qp")
    qp.change(call.opcode, optional, call.data[QP_AT:QP_AT + QP.size])
    call.function.wire.engine.changed(qp)


@command(0x50b)
def query_qp(call):
    return bytes(QP_AT - 8) + bytes(call.of("qp").query())
