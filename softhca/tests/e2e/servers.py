# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""For programs that listen at a TCP port: how a shell waits until they do."""

# `listening PORT PID` returns when the process listens at the port, and fails when it has ended
# before.
LISTENING = r"""
listening() {
    until grep -q ":$(printf %04X $1) 00000000.*0A" /proc/net/tcp /proc/net/tcp6; do
        kill -0 $2 2>/dev/null || return
        sleep 0.02
    done
}
"""
