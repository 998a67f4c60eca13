# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The objects of the driver: queues and memory keys. Other objects have only a number."""

from types import SimpleNamespace

from connectx3 import keys, queues
from connectx3.memory import Pages, Ring, addresses

from .layouts import CQ, CQE, EQ, EQE, MKEY, RMP, SRQ

PAS_AT = 0x110  # in every command that gives pages
ADAPTER_PAGE = 12

# mlx5_ifc.h: MLX5_MKC_ACCESS_MODE_MTT
BY_PAGES = 1

# cq.h: MLX5_CQE_*; a receive's is one more than a ConnectX-3's
CQE_REQUEST, CQE_RECEIVED, CQE_RESIZE, CQE_REQUEST_ERROR, CQE_RESPONSE_ERROR = 0, 1, 5, 13, 14


def pages(function, data, shift):
    """The pages that a command gives."""
    return Pages(function.guest, shift, addresses(data[PAS_AT:]))


def within(context):
    """Where a buffer begins in its first page. The driver gives that in 64ths of a page."""
    return context.page_offset << context.log_page + ADAPTER_PAGE - 6


def ring(function, data, context, size):
    return Ring(pages(function, data, context.log_page + ADAPTER_PAGE), 1 << context.log_size, size,
                within(context))


class Object:
    def __init__(self, function, number, data):
        pass


class Region:
    def __init__(self, function, _number, data):
        self.__dict__.update(vars(MKEY.parse(data)))
        self.opens = not self.free and self.mode == BY_PAGES
        self.pages = pages(function, data, self.log_page)


class Keys(keys.Keys):
    """The memory keys. A key is the number of a region, and a byte that the driver changes from one
    key to the next."""

    def _find(self, key):
        region = self.function.objects["mkey"].get(key >> 8)
        return region if region and region.opens and region.variant == key & 0xff else None


class EventQueue(queues.EventQueue):
    layout = EQE

    def __init__(self, function, _number, data):
        context = EQ.parse(data)
        self.events = context.events
        super().__init__(function, context, ring(function, data, context, EQE.size))

    def wants(self, kind):
        """Whether the queue gets events of this type. The bitmap counts from the first of four
        64-bit words."""
        return self.events >> 64 * (3 - kind // 64) >> kind % 64 & 1


class CompletionQueue(queues.CompletionQueue):
    """A CQ. An entry may have 128 bytes; then its data is in the second half."""

    def __init__(self, function, number, data):
        context = CQ.parse(data)
        self.size = CQE.size << bool(context.entry)
        super().__init__(function, number, context, ring(function, data, context, self.size))

    def preset(self):
        """Does nothing: the driver sets the owner bits."""

    def entry(self, qpn, opcode, is_send=0, syndrome=0, srqn=0, **fields):
        """An entry. Programs find a QP, or the XRC SRQ of a receive, by an index of their own."""
        owner = self.function.srqs[srqn] if srqn else self.function.qps[qpn]
        if syndrome:
            kind = CQE_REQUEST_ERROR if is_send else CQE_RESPONSE_ERROR
        else:
            kind = CQE_REQUEST if is_send else CQE_RECEIVED + opcode
        return CQE.build(qpn=qpn, kind=kind, syndrome=syndrome,
                         send_opcode=opcode if is_send and not syndrome else 0,
                         user_index=owner.user_index, **fields)

    def last_of_ring(self):
        return CQE.build(kind=CQE_RESIZE, owner=self.ring.turn(self.produced))

    def resize_by(self, data):
        self.resize(ring(self.function, data, CQ.parse(data), self.size))


class XrcSrq(queues.SharedReceiveQueue):
    def __init__(self, function, number, data):
        context = SRQ.parse(data)
        self.user_index = context.user_index
        super().__init__(function, number, context,
                         ring(function, data, context, 16 << context.log_stride))


class Rmp(queues.SharedReceiveQueue):
    """An ordinary SRQ. Its completions go to the CQ of the QP."""

    def __init__(self, function, number, data):
        context = SimpleNamespace(cqn=None, xrcd=None, **vars(RMP.parse(data)))
        super().__init__(function, number, context,
                         ring(function, data, context, 1 << context.log_stride))
