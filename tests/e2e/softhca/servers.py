# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""For programs that listen at a TCP port: a port that nobody has, and how a shell waits until they listen."""

import itertools
import os

# Below the ports that the system hands out. Processes of pytest that run at the same time have ranges of their own.
ports = itertools.count(13000 + os.getpid() % 38 * 500)

# `listening PORT PID` returns when the process listens at the port, and fails when it has ended before.
LISTENING = r"""
listening() {
    until grep -q ":$(printf %04X $1) 00000000.*0A" /proc/net/tcp /proc/net/tcp6; do
        kill -0 $2 2>/dev/null || return
        sleep 0.02
    done
}
"""
