# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Requests of RC and XRC QPs. A request is executed at once; no acknowledgement travels."""

from types import SimpleNamespace

from .keys import (LOCAL_READ, LOCAL_WRITE, REMOTE_ATOMIC, REMOTE_READ, REMOTE_WRITE, Denied,
                   scatter)
from .qp import (ATOMICS, COMPARE_SWAP, READ, RECEIVING, RTR, SEND, SEND_IMMEDIATE, WRITE,
                 WRITE_IMMEDIATE, XRC)
from .queues import (CQE_ERROR, EVENT_ACCESS_ERROR, EVENT_BAD_REQUEST, EVENT_ESTABLISHED,
                     LOCAL_LENGTH, REMOTE_ACCESS, REMOTE_INVALID)

PSN_MASK = 0xffffff

# Opcodes of receive completions, include/linux/mlx4/device.h: MLX4_RECV_OPCODE_*
RECEIVED = {WRITE_IMMEDIATE: 0, SEND: 1, SEND_IMMEDIATE: 2}


class Lost(Exception):
    """The request gets no answer. It is sent again until the retries are used up."""


class NotReady(Exception):
    """The receiver has no receive posted and asks for a pause (RNR NAK)."""


class Failed(Exception):
    """The request completes with an error, and its QP and @peer fail. The driver of the peer may
    get an event."""

    def __init__(self, syndrome, event=None):
        super().__init__(f"syndrome {syndrome:#x}")
        self.syndrome, self.event, self.peer = syndrome, event, None


def length(request):
    if request.atomic:
        return 8
    return sum(len(part) if isinstance(part, bytes) else part[0] for part in request.gather)


def local_views(qp, request):
    """The memory of the request's segments, in order."""
    access = LOCAL_WRITE if request.opcode in (READ, *ATOMICS) else LOCAL_READ
    views = []
    for part in request.gather:
        views += [part] if isinstance(part, bytes) else qp.function.keys.views(
            qp.context.pd, part, access)
    return views


def _connected(peer, qp):
    """Whether the receiver @peer is connected to this QP. Only then it accepts the QP's packets,
    and has an address to answer to."""
    return (peer.context.service == qp.context.service and peer.state in RECEIVING and
            peer.context.remote_qpn == qp.number and peer.context.primary_rlid == qp.function.lid)


def send(qp, request):
    """Executes the request; returns its length."""
    function = qp.function.wire.get(qp.context.primary_rlid)
    peer = function and function.qps.get(qp.context.remote_qpn)
    if not peer or not _connected(peer, qp):
        raise Lost
    if peer.state == RTR and not peer.established:
        peer.established = True
        function.event(EVENT_ESTABLISHED, number=peer.number)
    size = length(request)
    try:
        queue = _queue(peer, request)
        if request.opcode in RECEIVED and not (queue.entries and queue.entries.ready()):
            raise NotReady
        HANDLERS[request.opcode](SimpleNamespace(qp=qp, peer=peer, request=request, size=size,
                                                 views=local_views(qp, request), queue=queue))
    except Failed as failure:
        if failure.event:
            function.event(failure.event, number=peer.number)
        failure.peer = peer
        raise
    packets = max(1, -(-size // (128 << qp.context.mtu)))
    qp.context.send_psn = (qp.context.send_psn + packets) & PSN_MASK
    peer.context.receive_psn = qp.context.send_psn
    return size


def _queue(peer, request):
    """The queue in which the request finds its receive, the protection domain of its keys, and the
    CQ for its completion."""
    function, context = peer.function, peer.context
    if context.service == XRC:
        srq = function.srqs.get(request.srqn)
        if not srq or srq.xrcd != context.xrcd:
            raise Failed(REMOTE_INVALID, EVENT_BAD_REQUEST)
        return SimpleNamespace(entries=srq, pd=srq.pd, cq=function.cqs[srq.cqn], srqn=srq.number)
    srq = function.srqs.get(context.srqn) if context.has_srq else None
    return SimpleNamespace(entries=srq or peer.receives, pd=context.pd,
                           cq=function.cqs[context.receive_cqn], srqn=0)


def _complete(call, size):
    request, queue = call.request, call.queue
    queue.cq.post(bool(request.solicited), qpn=call.peer.number, immediate=request.immediate,
                  remote=call.qp.number, srqn=queue.srqn, slid=call.qp.function.lid,
                  sl=call.qp.context.primary_sl, bytes=size,
                  index=queue.entries.take() & 0xffff, opcode=RECEIVED[request.opcode])


def _send(call):
    queue, segments = call.queue, call.queue.entries.peek()
    if sum(row[0] for row in segments) < call.size:
        queue.cq.post(True, qpn=call.peer.number, srqn=queue.srqn, syndrome=LOCAL_LENGTH,
                      index=queue.entries.take() & 0xffff, opcode=CQE_ERROR)
        raise Failed(REMOTE_INVALID)
    keys = call.peer.function.keys
    scatter([view for segment in segments for view in keys.views(queue.pd, segment, LOCAL_WRITE)],
            b"".join(call.views))
    _complete(call, call.size)


def _remote_views(call, access):
    try:
        return call.peer.function.keys.views(
            call.queue.pd, (call.size, call.request.key, call.request.address), access)
    except Denied:
        raise Failed(REMOTE_ACCESS, EVENT_ACCESS_ERROR) from None


def _may(call, name):
    if not getattr(call.peer.context, name):
        raise Failed(REMOTE_INVALID, EVENT_BAD_REQUEST)


def _write(call):
    _may(call, "remote_write")
    scatter(_remote_views(call, REMOTE_WRITE), b"".join(call.views))
    if call.request.opcode == WRITE_IMMEDIATE:
        _complete(call, call.size)


def _read(call):
    _may(call, "remote_read")
    scatter(call.views, b"".join(_remote_views(call, REMOTE_READ)))


def _atomic(call):
    """Executes an atomic operation. The memory has the guest's byte order, the request the
    wire's."""
    _may(call, "remote_atomic")
    view = _remote_views(call, REMOTE_ATOMIC)[0]
    old, atomic = int.from_bytes(view, "little"), call.request.atomic
    if call.request.opcode != COMPARE_SWAP:
        view[:] = (old + atomic.swap_add & (1 << 64) - 1).to_bytes(8, "little")
    elif old == atomic.compare:
        view[:] = atomic.swap_add.to_bytes(8, "little")
    scatter(call.views, old.to_bytes(8, "little"))


HANDLERS = {
    SEND: _send, SEND_IMMEDIATE: _send, WRITE: _write, WRITE_IMMEDIATE: _write, READ: _read,
    **dict.fromkeys(ATOMICS, _atomic)
}
