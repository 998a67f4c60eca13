# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Executes send queues, with their timeouts, repetitions and failures."""

import time

from . import connected
from .qp import DRAINING, ERR, RC, RESET, RTS, SQD, XRC
from .queues import EVENT_DRAINED, RETRY_EXCEEDED

BURST = 64
TICK = 0.002


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
            qp.flush()
        elif qp.state == RTS:
            self.ring(qp)

    def timeout(self):
        """How many seconds the caller may sleep; None: until the next message of QEMU."""
        if not self.waiting:
            return None
        return 0 if any(qp.since is None for qp in self.waiting) else TICK

    def run(self):
        for qp in list(self.waiting):
            if qp in self.waiting and not self._run(qp):
                self.waiting.pop(qp, None)

    def _run(self, qp):
        """Executes requests of the QP. Returns whether the engine has to look at the QP again."""
        if qp.state == ERR:
            qp.flush()
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
        """Executes one request. Returns whether the next one may follow at once. A request of a
        service other than RC and XRC completes, but its message is dropped."""
        try:
            carried = qp.context.service in (RC, XRC)
            qp.complete_send(request, connected.send(qp, request) if carried else 0)
            return True
        except connected.Failed as failure:
            self._fail(qp, request, failure.syndrome)
            failure.peer.fail()
        except (connected.Lost, connected.NotReady) as reason:
            self._wait(qp, request, isinstance(reason, connected.Lost))
        return False

    def _fail(self, qp, request, syndrome):
        qp.complete_send(request, syndrome=syndrome)
        qp.fail()
        self.forget(qp)

    def _wait(self, qp, request, lost):
        """Leaves the request in the queue. If the peer did not answer (@lost), the request fails
        after the timeout and its retries. If the peer has no receive posted, it waits without
        limit, whatever rnr_retry is: no test here lets these retries end."""
        now = time.monotonic()
        if qp.since is None or not lost:
            qp.since = now
        context = qp.context
        seconds = (context.retry_count + 1) * 4.096e-6 * 2**context.primary_ack_timeout * self.slow
        if lost and now - qp.since >= seconds:
            self._fail(qp, request, RETRY_EXCEEDED)
