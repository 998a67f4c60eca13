# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Datagrams: UD, and the packets that the driver builds itself for QP 0 and QP 1 (MLX)."""

from connected import length, local_views
from keys import LOCAL_WRITE, scatter
from layouts import BTH, DETH, GRH, LRH
from qp import RECEIVING, SEND, SEND_IMMEDIATE
from queues import CQE_ERROR, LOCAL_LENGTH, LOCAL_PROTECTION, LOCAL_QP_OP
from verdict import Failed

MULTICAST_LID = 0xc000
HAS_GRH, IMMEDIATE, UD_HEADER = 3, 1, 27
CONTROLLED_QKEY = 1 << 31
RECEIVED_SEND, RECEIVED_IMMEDIATE = 1, 2


class Packet:
    """A datagram on its way."""

    def __init__(self, function, sender, payload, **fields):
        self.slid, self.sender, self.payload = function.lid, sender, payload
        self.dlid, self.sl = fields["dlid"], fields["sl"]
        self.qpn, self.qkey = fields["qpn"], fields["qkey"]
        self.grh, self.immediate = fields.get("grh"), fields.get("immediate")
        self.solicited = fields.get("solicited", 0)
        self.dgid = fields.get("dgid", 0)


def send(qp, request):
    size, to = length(request), request.datagram
    if request.opcode not in (SEND, SEND_IMMEDIATE):
        raise Failed(LOCAL_QP_OP)
    payload = b"".join(local_views(qp, request))
    if size > 128 << qp.function.mtu:
        raise Failed(LOCAL_LENGTH)
    grh = GRH.build(version=6, flow=to.flow, length=size &
                    0xffff, next=UD_HEADER, hop_limit=to.hop_limit, sgid=qp.function.gid,
                    dgid=to.dgid) if to.has_grh else None
    # The controlled Q_Key stands for the QP's own.
    qkey = qp.context.qkey if to.qkey & CONTROLLED_QKEY else to.qkey
    deliver(
        qp.function,
        Packet(qp.function, qp.number, payload, dlid=to.dlid, sl=to.sl, qpn=to.qpn, qkey=qkey,
               grh=grh, dgid=to.dgid,
               immediate=request.immediate if request.opcode == SEND_IMMEDIATE else None,
               solicited=request.solicited))
    return size


def send_raw(qp, request):
    """Sends a packet that the driver has built: the data begins with the headers."""
    data = b"".join(local_views(qp, request))
    link, at, grh, dgid = LRH.parse(data), LRH.size, None, 0
    if link.next == HAS_GRH:
        grh = bytearray(data[at:at + GRH.size])
        dgid = GRH.get(grh, "dgid")
        at += GRH.size
    transport = BTH.parse(data[at:])
    header = DETH.parse(data[at + BTH.size:])
    payload = data[at + BTH.size + DETH.size:]
    immediate = None
    if transport.opcode & IMMEDIATE:
        immediate, payload = int.from_bytes(payload[:4], "big"), payload[4:]
    deliver(
        qp.function,
        Packet(qp.function, header.qpn, payload, dlid=link.dlid, sl=link.sl, qpn=transport.qpn,
               qkey=header.qkey, grh=grh, dgid=dgid, immediate=immediate,
               solicited=transport.solicited))
    return length(request)


def deliver(function, packet):
    """Delivers the packet; drops it if there is no receiver."""
    if packet.dlid >= MULTICAST_LID:
        for other in function.wire.functions:
            for qpn in other.group_members(packet.dgid):
                if not (other is function and qpn == packet.sender):
                    _receive(other, other.qps.get(qpn), packet)
        return
    other = function.wire.get(packet.dlid)
    if other:
        _receive(other, other.qps.get(other.special_qpn(packet.qpn)), packet)


def _receive(function, qp, packet):
    if not qp or qp.state not in RECEIVING or (packet.qpn and qp.context.qkey != packet.qkey):
        return
    srq = function.srqs.get(qp.context.srqn) if qp.context.has_srq else None
    entries, cq = srq or qp.receives, function.cqs.get(qp.context.receive_cqn)
    if not entries or not entries.ready() or not cq:
        return
    data = bytes(packet.grh or bytes(GRH.size)) + packet.payload
    segments = entries.peek()
    views = function.keys.all_views(qp.context.pd, segments, LOCAL_WRITE)
    if views is None or sum(row[0] for row in segments) < len(data):
        syndrome = LOCAL_PROTECTION if views is None else LOCAL_LENGTH
        cq.post(True, qpn=qp.number, index=entries.take() & 0xffff, syndrome=syndrome,
                opcode=CQE_ERROR)
        function.wire.engine.fail(qp)
        return
    scatter(views, data)
    cq.post(bool(packet.solicited), qpn=qp.number, immediate=packet.immediate or 0, has_grh=int(
        bool(packet.grh)), remote=packet.sender, sl=packet.sl, slid=packet.slid, bytes=len(data),
            index=entries.take() & 0xffff,
            opcode=RECEIVED_SEND if packet.immediate is None else RECEIVED_IMMEDIATE)
