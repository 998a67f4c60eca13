# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The ways in which a request fails."""


class Lost(Exception):
    """The request gets no answer. It is sent again until the retries are used up."""


class NotReady(Exception):
    """The receiver has no receive posted and asks for a pause (RNR NAK)."""

    def __init__(self, timer=0):
        super().__init__()
        self.timer = timer


class Failed(Exception):
    """The request completes with an error, and its QP fails. So does @peer, whose driver may get an
    event."""

    def __init__(self, syndrome, event=None):
        super().__init__(f"syndrome {syndrome:#x}")
        self.syndrome, self.event, self.peer = syndrome, event, None
