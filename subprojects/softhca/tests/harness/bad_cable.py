# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A cable between two interfaces that loses some frames and delays the others, until its stdin
ends. A kernel may lack the queue netem.

usage: bad_cable.py LOSS SECONDS INTERFACE INTERFACE"""

import collections
import contextlib
import random
import select
import socket
import sys
import time

PACKET_VNET_HDR = 15
SOL_PACKET = 263
ETH_P_ALL = 3

late, rng = collections.deque(), random.Random(7)
loss, delay = map(float, sys.argv[1:3])
ends = [socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.ntohs(ETH_P_ALL)) for _ in range(2)]
for end, name in zip(ends, sys.argv[3:]):
    end.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)  # a segment of TCP may be longer than a frame
    end.bind((name, ETH_P_ALL))
print("up", flush=True)
while True:
    left = late[0][0] - time.monotonic() if late else 1
    ready = select.select([*ends, sys.stdin], [], [], max(0, left))[0]
    if sys.stdin in ready:
        break
    for end in ready:
        frame, (_, _, kind, *_) = end.recvfrom(1 << 17)
        if kind != socket.PACKET_OUTGOING and rng.random() >= loss:
            late.append((time.monotonic() + delay, ends[end is ends[0]], frame))
    while late and late[0][0] <= time.monotonic():
        _, end, frame = late.popleft()
        with contextlib.suppress(OSError):  # the cable is pulled
            end.send(frame)
