# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A server and a client of the distribution, on two adapters."""

import models
from installed import need, need_domain_files
from running import free_port

# `listening PORT PID` returns when the process listens at the port, and fails when it has ended
# before.
LISTENING = r"""
listening() {
    until grep -Eq ":$(printf %04X $1) 0+:0000 0A" /proc/net/tcp /proc/net/tcp6; do
        kill -0 $2 2>/dev/null || return
        sleep 0.02
    done
}
"""

# A server in the background, and a client as soon as it listens; both must succeed. The server is
# ended if the client fails.
PAIR = LISTENING + r"""
port=$1 sdev=$2 cdev=$3 before=$4 after=$5; shift 5
eval "$before" || exit 1
"$@" -d $sdev -p $port & server=$!
listening $port $server
"$@" -d $cdev -p $port 127.0.0.1; client=$?
[ $client = 0 ] || kill $server
wait $server; server=$?
echo "server $server, client $client"
[ $server = 0 ] && [ $client = 0 ] && eval "$after"
"""


def pair_command(argv, devices=(0, 1), before="", after=""):
    """@before and @after are shell commands around both programs."""
    need(argv[0])
    if argv[0] == "ibv_xsrq_pingpong" or "XRC" in argv:
        need_domain_files()
    return [
        "bash", "-c", PAIR, "pair", free_port(), *map(models.device, devices), before, after, *argv
    ]
