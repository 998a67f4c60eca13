# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The command interface of mlx4_core. Each command is a function of one table."""

from . import identity, mad
from .dispatch import OK, Commands
from .keys import Table
from .layouts import CQ, CQE, EQ, EQE, HCR, ICM_CHUNK, INIT_HCA, QP, SRQ
from .memory import Ring, Translation
from .qp import DRAINING, SQD, TRANSITIONS, QueuePair
from .queues import EVENT_COMMAND, CompletionQueue, EventQueue, SharedReceiveQueue

MAILBOX = 4096
NUMBER = 0xffffff
SELF_MODIFIED = 1 << 31
COMMANDS = Commands()
command = COMMANDS.add


class Call:
    """One command. Its function returns bytes for the mailbox, or a number for the register."""

    def __init__(self, function, register):
        self.function = function
        self.__dict__.update(vars(HCR.parse(register)))
        self.number = self.in_modifier & NUMBER

    def mailbox(self, size=MAILBOX, offset=0):
        return bytes(self.function.guest.view(self.in_param + offset, size))

    def run(self):
        """Runs the command: (status, output parameter)."""
        status, result = COMMANDS.run(self)
        if isinstance(result, (bytes, bytearray)):
            self.function.guest.view(self.out_param, len(result))[:] = result
            return OK, self.out_param
        return status, self.out_param if result is None else result


def execute(function, register):
    """Handles a write to the command register that has the go bit. The driver gets the answer as an
    event, or polls for it."""
    call = Call(function, register)
    status, out_param = call.run()
    HCR.put(register, go=0, status=status)
    if call.event:
        function.event(EVENT_COMMAND, token=call.token, status=status, out_param=out_param)
    else:
        HCR.put(register, out_param=out_param)


# ---- firmware, limits, context memory ----

# These commands need no work here.
NOTHING = {"MAP_FA": 0xfff, "UNMAP_FA": 0xffe, "RUN_FW": 0xff6, "MOD_STAT_CFG": 0x34,
           "CLOSE_HCA": 0x8, "INIT_PORT": 0x9, "CLOSE_PORT": 0xa, "SET_PORT": 0xc,
           "MAP_ICM_AUX": 0xffc, "UNMAP_ICM_AUX": 0xffb, "SYNC_TPT": 0x2f, "NOP": 0x31,
           "HW_HEALTH_CHECK": 0x50, "CONF_SPECIAL_QP": 0x23, "UPDATE_QP": 0x61}
ZEROES = {"QUERY_ADAPTER": 0x6, "QUERY_HCA": 0xb, "DIAG_RPRT": 0x30, "QUERY_IF_STAT": 0x54}
# And MGID_HASH: one chain for all groups; SET_ICM_SIZE: how many pages the adapter wants for itself
ANSWERS = {**identity.ANSWERS, 0x27: 0, 0xffd: 16}


@command(*NOTHING.values())
def nothing(_call):
    return None


@command(*ZEROES.values())
def zeroes(call):
    return bytes(0x100) if call.out_param else None


@command(0x3)
def query_dev_cap(call):
    return identity.query_dev_cap(call.function.has_xrc)


@command(*ANSWERS)
def answer(call):
    return ANSWERS[call.opcode]


@command(0xffa)
def map_icm(call):
    for at in range(call.in_modifier):
        chunk = ICM_CHUNK.parse(call.mailbox(ICM_CHUNK.size, at * ICM_CHUNK.size))
        call.function.icm.map(chunk.virtual, chunk.physical << 12, MAILBOX << chunk.log_pages)


@command(0xff9)
def unmap_icm(call):
    call.function.icm.unmap(call.in_param, call.in_modifier * MAILBOX)


@command(0x7)
def init_hca(call):
    given = INIT_HCA.parse(call.mailbox(INIT_HCA.size))
    call.function.mtt_base = given.mtt_base
    call.function.keys = Table(call.function, given.dmpt_base, given.log_mpts)


# ---- regions ----

@command(0xd)
def sw2hw_mpt(call):
    call.function.keys.give(call.in_modifier, call.mailbox(0x40))


@command(0xf)
def hw2sw_mpt(call):
    call.function.keys.take(call.in_modifier)


# ---- queues ----

# HW2SW_EQ, HW2SW_CQ, HW2SW_SRQ
TAKEN_BACK = {0x14: "eqs", 0x17: "cqs", 0x36: "srqs"}


def ring(function, context, size):
    pages = Translation(function.icm, function.mtt_base + context.mtt, context.log_page + 12)
    return Ring(pages, 1 << context.log_size, size)


@command(0x12)
def map_eq(call):
    """Notes which types of event go to which event queue."""
    for kind in range(64):
        if call.in_param >> kind & 1:
            call.function.event_queue[kind] = None if call.in_modifier >> 31 else call.number


@command(0x13)
def sw2hw_eq(call):
    context = EQ.parse(call.mailbox(EQ.size))
    call.function.eqs[call.number] = EventQueue(call.function, context,
                                                ring(call.function, context, EQE.size))


@command(0x16)
def sw2hw_cq(call):
    context = CQ.parse(call.mailbox(CQ.size))
    call.function.cqs[call.number] = CompletionQueue(call.function, call.number, context,
                                                     ring(call.function, context, CQE.size))


@command(0x2c)
def modify_cq(call):
    if not call.op_modifier:
        call.function.cqs[call.number].resize(
            ring(call.function, CQ.parse(call.mailbox(CQ.size)), CQE.size))


@command(0x35)
def sw2hw_srq(call):
    context = SRQ.parse(call.mailbox(SRQ.size))
    slots = ring(call.function, context, 16 << context.log_stride)
    call.function.srqs[call.number] = SharedReceiveQueue(call.function, call.number, context, slots)


@command(*TAKEN_BACK)
def take_back(call):
    getattr(call.function, TAKEN_BACK[call.opcode]).pop(call.number, None)


@command(0x37)
def query_srq(call):
    return SRQ.build(limit=call.function.srqs[call.number].limit)


@command(0x40)
def arm_srq(call):
    call.function.srqs[call.number].limit = call.in_param & 0xffff


# ---- QPs ----

@command(*TRANSITIONS)
def modify_qp(call):
    function = call.function
    qp = function.qps.setdefault(call.number, QueuePair(function, call.number))
    optional = int.from_bytes(call.mailbox(4), "big")
    qp.change(call.opcode, optional, call.mailbox(QP.size, 8))
    function.wire.engine.changed(qp)
    if qp.state == SQD and call.in_modifier & SELF_MODIFIED:
        qp.state = DRAINING
        function.wire.engine.ring(qp)


@command(0x21)
def reset_qp(call):
    qp = call.function.qps.pop(call.number, None)
    if qp:
        call.function.wire.engine.forget(qp)


@command(0x22)
def query_qp(call):
    return bytes(8) + call.function.qps[call.number].query()


# ---- management ----

@command(0x24)
def mad_ifc(call):
    return mad.answer(call.function.lid, call.mailbox(0x100))


@command(0x25)
def read_mcg(call):
    return call.function.groups.get(call.in_modifier, bytes(0x400))


@command(0x26)
def write_mcg(call):
    call.function.groups[call.in_modifier] = call.mailbox(0x400)
