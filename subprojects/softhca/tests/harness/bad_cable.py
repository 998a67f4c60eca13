# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A cable between two interfaces that loses some frames and delays the others, until its stdin
ends. A kernel may lack the queue netem.

usage: bad_cable.py LOSS SECONDS INTERFACE INTERFACE"""

import collections
import contextlib
import os
import random
import select
import socket
import sys
import time

SO_RCVBUFFORCE = 33
BYTES = 1 << 26  # what a socket holds while this program does not run: no loss by accident
PACKET_VNET_HDR = 15
PACKET_IGNORE_OUTGOING = 23
SOL_PACKET = 263
ETH_P_ALL = 3

late, rng = collections.deque(), random.Random(7)
loss, delay = map(float, sys.argv[1:3])
# With the protocol 0, nothing comes before bind(): no frame of another interface.
ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) for _ in range(2)]
for end, name in zip(ends, sys.argv[3:]):
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BYTES)  # at most net.core.rmem_max
    with contextlib.suppress(PermissionError):
        end.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BYTES)
    end.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)  # a segment of TCP may be longer than a frame
    end.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    end.bind((name, ETH_P_ALL))
with contextlib.suppress(PermissionError):
    os.nice(-20)  # a cable does not wait for a processor
print("up", flush=True)
place = memoryview(bytearray(1 << 17))
while True:
    left = late[0][0] - time.monotonic() if late else 1
    ready = select.select([*ends, sys.stdin], [], [], max(0, left))[0]
    if sys.stdin in ready:
        break
    for end in ready:
        with contextlib.suppress(BlockingIOError):
            while True:  # all that have come: on a busy machine the next turn is far
                size = end.recv_into(place, 0, socket.MSG_DONTWAIT)
                if rng.random() >= loss:
                    other = ends[end is ends[0]]
                    late.append((time.monotonic() + delay, other, bytes(place[:size])))
    while late and late[0][0] <= time.monotonic():
        _, end, frame = late.popleft()
        with contextlib.suppress(OSError):  # the cable is pulled
            end.send(frame)
