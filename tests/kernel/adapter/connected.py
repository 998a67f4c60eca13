# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Requests of connected QPs: RC, UC and XRC. The answer is known when the request has been
delivered."""

from types import SimpleNamespace

from keys import LOCAL_READ, LOCAL_WRITE, REMOTE_ATOMIC, REMOTE_READ, REMOTE_WRITE, scatter
from qp import (ATOMICS, COMPARE_SWAP, NOP, READ, RECEIVING, RTR, SEND, SEND_IMMEDIATE, UC, WRITE,
                WRITE_IMMEDIATE, XRC)
from queues import (CQE_ERROR, EVENT_ACCESS_ERROR, EVENT_BAD_REQUEST, EVENT_ESTABLISHED,
                    LOCAL_LENGTH, LOCAL_PROTECTION, LOCAL_QP_OP, REMOTE_ACCESS, REMOTE_INVALID,
                    REMOTE_OPERATION)
from verdict import Failed, Lost, NotReady

MAX_MESSAGE = 1 << 30
PSN_MASK = 0xffffff
KNOWN = (NOP, WRITE, WRITE_IMMEDIATE, SEND, SEND_IMMEDIATE, READ, *ATOMICS)

# Opcodes of receive completions, include/linux/mlx4/device.h: MLX4_RECV_OPCODE_*
RECEIVED = {WRITE_IMMEDIATE: 0, SEND: 1, SEND_IMMEDIATE: 2}


def length(request):
    if request.atomic:
        return 8
    return sum(len(part) if isinstance(part, bytes) else part[0] for part in request.gather)


def local_views(qp, request):
    """The memory of the request's segments, in order."""
    access = LOCAL_WRITE if request.opcode in (READ, *ATOMICS) else LOCAL_READ
    views = []
    for part in request.gather:
        if isinstance(part, bytes):
            found = [part] if access == LOCAL_READ else None
        else:
            found = qp.function.keys.all_views(qp.context.pd, [part], access)
        if found is None:
            raise Failed(LOCAL_PROTECTION)
        views += found
    return views


def send(qp, request):
    """Executes the request; returns its length."""
    size = length(request)
    if request.opcode not in KNOWN or (qp.context.service == UC and
                                       request.opcode in (READ, *ATOMICS)):
        raise Failed(LOCAL_QP_OP)
    if request.opcode == NOP:
        return 0
    if size > MAX_MESSAGE:
        raise Failed(LOCAL_LENGTH)
    views = local_views(qp, request)
    try:
        _transport(qp, request, views, size)
    except (Lost, NotReady):
        if qp.context.service != UC:
            raise
    return size


def _connected(peer, qp):
    """Whether the receiver @peer is connected to this QP. Only then it accepts the QP's packets,
    and has an address to answer to."""
    return (peer.state in RECEIVING and peer.context.remote_qpn == qp.number and
            peer.remote_lid == qp.function.lid)


def _transport(qp, request, views, size):
    function = qp.function.wire.get(qp.remote_lid)
    peer = function and function.qps.get(qp.context.remote_qpn)
    if not peer or peer.context.service != qp.context.service or not _connected(peer, qp):
        raise Lost
    if peer.context.receive_psn != qp.context.send_psn and qp.context.service != UC:
        raise Lost
    if peer.state == RTR and not peer.established:
        peer.established = True
        function.event(EVENT_ESTABLISHED, number=peer.number)
    try:
        _execute(
            SimpleNamespace(qp=qp, peer=peer, request=request, views=views, size=size, queue=_queue(
                peer, request)))
    except Failed as failure:
        if failure.event:
            function.event(failure.event, number=peer.number)
        if qp.context.service != UC:
            failure.peer = peer
            raise
    packets = max(1, -(-size // (128 << qp.context.mtu)))
    qp.context.send_psn = (qp.context.send_psn + packets) & PSN_MASK
    peer.context.receive_psn = qp.context.send_psn


def _fits(one, other, size):
    """Whether the receiver accepts the packets. Each may have its MTU at most, and all but the last
    one of a message must be full."""
    least = 128 << min(one.context.mtu, other.context.mtu)
    return one.context.mtu == other.context.mtu or size <= least


def _queue(peer, request):
    """The queue in which the request finds its receive, the protection domain of its keys, and the
    CQ for its completion."""
    function, context = peer.function, peer.context
    if context.service == XRC:
        srq = function.srqs.get(request.srqn)
        if not srq or srq.xrcd != context.xrcd:
            raise Failed(REMOTE_INVALID, EVENT_BAD_REQUEST)
        return SimpleNamespace(entries=srq, pd=srq.pd, cq=function.cqs.get(srq.cqn), srq=srq)
    srq = function.srqs.get(context.srqn) if context.has_srq else None
    return SimpleNamespace(entries=srq or peer.receives, pd=context.pd,
                           cq=function.cqs.get(context.receive_cqn), srq=srq)


def _execute(call):
    handler = HANDLERS[call.request.opcode]
    if not _fits(call.qp, call.peer, call.size):
        raise Failed(REMOTE_INVALID, EVENT_BAD_REQUEST)
    if call.request.opcode in RECEIVED and not (call.queue.entries and call.queue.entries.ready()):
        raise NotReady(call.peer.context.rnr_timer)
    handler(call)


def _complete(call, size, syndrome=0):
    request, queue = call.request, call.queue
    if not queue.cq or queue.cq.full():
        raise Failed(REMOTE_OPERATION)
    index = queue.entries.take()
    srqn = queue.srq.number if call.peer.context.service == XRC else 0
    if syndrome:
        queue.cq.post(True, qpn=call.peer.number, srqn=srqn, index=index & 0xffff,
                      syndrome=syndrome, opcode=CQE_ERROR)
        return
    queue.cq.post(bool(request.solicited), qpn=call.peer.number, immediate=request.immediate,
                  remote=call.qp.number, srqn=srqn, slid=call.qp.function.lid, sl=call.qp.sl,
                  bytes=size, index=index & 0xffff, opcode=RECEIVED[request.opcode])


def _send(call):
    segments = call.queue.entries.peek()
    if sum(row[0] for row in segments) < call.size:
        _complete(call, 0, LOCAL_LENGTH)
        raise Failed(REMOTE_INVALID)
    views = call.peer.function.keys.all_views(call.queue.pd, segments, LOCAL_WRITE)
    if views is None:
        _complete(call, 0, LOCAL_PROTECTION)
        raise Failed(REMOTE_OPERATION)
    scatter(views, b"".join(call.views))
    _complete(call, call.size)


def _remote_views(call, access):
    if not call.size:
        return []
    segment = (call.size, call.request.key, call.request.address)
    views = call.peer.function.keys.views(call.queue.pd, segment, access)
    if views is None:
        raise Failed(REMOTE_ACCESS, EVENT_ACCESS_ERROR)
    return views


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
    if call.request.address % 8:
        raise Failed(REMOTE_INVALID, EVENT_BAD_REQUEST)
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
