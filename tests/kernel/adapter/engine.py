# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Executes send queues, with their timeouts, repetitions and failures."""

import time

import connected
import datagram
from qp import DRAINING, ERR, MLX, RESET, RTS, SQD, SQER, UC, UD
from queues import EVENT_DRAINED, EVENT_LAST_WQE, RETRY_EXCEEDED, RNR_EXCEEDED
from verdict import Failed, Lost, NotReady

BURST = 64
TICK = 0.002

# InfiniBand Architecture Specification 9.7.5.2.8: the RNR timers, in units of 10 us
RNR_UNITS = (65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
             1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152)
FOREVER = 7


class Engine:
    """Executes the send queues of all adapters on a wire. @slow multiplies the timeouts that verbs
    set."""

    def __init__(self, slow=1):
        self.slow = slow
        self.waiting = {}  # QPs with a request that could not be finished

    def ring(self, qp):
        """The driver has rung a doorbell, so there may be requests."""
        if qp and qp.send_ring:
            self.waiting[qp] = None

    def forget(self, qp):
        self.waiting.pop(qp, None)

    def changed(self, qp):
        """The driver has changed the QP's state."""
        if qp.state == RESET:
            self.forget(qp)
        elif qp.state == ERR:
            self.fail(qp)
        elif qp.state == RTS:
            self.ring(qp)

    def timeout(self):
        """How many seconds the caller may sleep; None: until the next message of QEMU."""
        if not self.waiting:
            return None
        if any(qp.since is None and qp.state != ERR for qp in self.waiting):
            return 0
        return TICK

    def run(self):
        for qp in list(self.waiting):
            if qp in self.waiting and not self._run(qp):
                self.waiting.pop(qp, None)

    def _run(self, qp):
        """Executes requests of the QP. Returns whether the engine has to look at the QP again."""
        if qp.state in (ERR, SQER):
            qp.flush()
            # No doorbell announces receives that are posted now.
            return qp.state == ERR and qp.receives is not None
        for _ in range(BURST):
            if qp.state not in (RTS, DRAINING):
                return False
            request = qp.request()
            if not request or (qp.state == DRAINING and qp.since is None):
                self._drained(qp)
                return False
            if not self._execute(qp, request):
                return qp in self.waiting
        return True

    def _drained(self, qp):
        if qp.state == DRAINING:
            qp.state = SQD
            qp.function.event(EVENT_DRAINED, number=qp.number)

    def _execute(self, qp, request):
        """Executes one request. Returns whether the next one may follow at once."""
        try:
            size = self._deliver(qp, request)
        except Failed as failure:
            qp.complete_send(request, syndrome=failure.syndrome)
            self.fail_sender(qp)
            if failure.peer:
                self.fail(failure.peer)
            return False
        except (Lost, NotReady) as reason:
            return self._wait(qp, request, reason)
        if not qp.complete_send(request, size):
            self.fail(qp)
            return False
        return True

    @staticmethod
    def _deliver(qp, request):
        if qp.context.service == UD:
            return datagram.send(qp, request)
        if qp.context.service == MLX:
            return datagram.send_raw(qp, request)
        return connected.send(qp, request)

    def _wait(self, qp, request, reason):
        now = time.monotonic()
        if qp.since is None:
            qp.since = now
        limit, syndrome = self._retry_limit(qp, reason)
        if limit is not None and now - qp.since >= limit:
            qp.complete_send(request, syndrome=syndrome)
            self.fail_sender(qp)
        return False

    def _retry_limit(self, qp, reason):
        """(seconds until the retries are used up, or None; the syndrome)"""
        context = qp.context
        if isinstance(reason, NotReady):
            if context.rnr_retry == FOREVER:
                return None, RNR_EXCEEDED
            return context.rnr_retry * RNR_UNITS[reason.timer] * 1e-5 * self.slow, RNR_EXCEEDED
        if not qp.timeout:
            return None, RETRY_EXCEEDED
        return (context.retry_count + 1) * 4.096e-6 * 2 ** qp.timeout * self.slow, RETRY_EXCEEDED

    def fail_sender(self, qp):
        """Takes the QP to the state after a failed send. An unreliable QP goes on receiving."""
        if qp.context.service in (UC, UD):
            qp.state = SQER
            qp.flush()
        else:
            self.fail(qp)

    def fail(self, qp):
        qp.state = ERR
        self.waiting[qp] = None
        qp.flush()
        if qp.context.has_srq and not qp.last_wqe_raised:
            qp.last_wqe_raised = True
            qp.function.event(EVENT_LAST_WQE, number=qp.number)
