#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares the emulated HCA, each model of it, with loopback TCP and with shared memory.

usage: softhca_speed.py SOFTHCA YARDSTICK AWAKE [ROUNDS, at least 2]
Keeps the processors awake, as a sleeping one takes 20 us to wake up, which no emulator can change.
Both ends of each pair have a processor of their own, those of TCP, too. Each measurement of the HCA
follows one of TCP, so other work on the machine meets both alike. Prints the quartiles of each
figure and of its ratios to TCP. A limit is for the ratio's worse quartile: the third of a time, the
first of a rate. It holds on a machine without other work, and SOFTHCA_MARGIN=2 makes it twice as
wide. An aim is for the median. Exit status 1 when a limit is missed, 2 when something cannot be
measured, 77 when perftest or a second processor is missing.

subprojects/softhca/speed.md has results and says where the time of a short message goes.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys

from against_tcp import APART, kept_awake, print_row, words_of
from measured import fail, measured

ROUNDS = 9
MODELS = {"connectx3": "mlx4", "connectx5": "mlx5"}

# Waits until the server listens, then starts the client.
PAIR = r"""
port=$1 device=$2 one=$3 other=$4; shift 4
taskset -c $one "$@" -d ${device}_0 -p $port > /dev/null 2>&1 & server=$!
for try in $(seq 200); do
    grep -q ":$(printf %04X $port) 00000000.*0A" /proc/net/tcp /proc/net/tcp6 && break
    sleep 0.02
done
timeout 50 taskset -c $other "$@" -d ${device}_1 -p $port localhost || { kill $server; exit 1; }
wait $server
"""

# Each kind of figure: its column in perftest's results, the factor to its unit, that unit, and
# the yardstick of TCP.
LATENCY = 4, 1, "us", "tcp"  # typical, one way
BANDWIDTH = 3, 1 / 8, "GB/s", "stream"  # average
RATE = 4, 1, "M/s", "rate"

SHORT = "-s 2 -n 4000"
# Enough that the first messages, which meet new pages, do not count.
LONG = "-s 65536 -n 20000 --report_gbits"

# What, kind, perftest's command, the limit of the ratio to TCP, our aim. With events a message
# wakes up the receiver and, for its own completion, the sender. TCP wakes up the receiver only.
ROWS = (
    ("RC send, polling", LATENCY, f"ib_send_lat {SHORT}", 1, 0.8),
    ("XRC send, polling", LATENCY, f"ib_send_lat -c XRC {SHORT}", 1, 0.8),
    ("RC write, polling", LATENCY, f"ib_write_lat {SHORT}", 1, 0.8),
    ("RC send, events", LATENCY, f"ib_send_lat -e {SHORT}", 1.5, 1.5),
    ("XRC send, events", LATENCY, f"ib_send_lat -c XRC -e {SHORT}", 1.5, 1.5),
    ("RC send, 2 bytes", RATE, "ib_send_bw -s 2 -n 50000 -I 16", 1, None),
    ("RC send, 64 KiB", BANDWIDTH, f"ib_send_bw {LONG}", 1, None),
    ("XRC send, 64 KiB", BANDWIDTH, f"ib_send_bw -c XRC {LONG}", 1, None),
    ("RC write, 64 KiB", BANDWIDTH, f"ib_write_bw {LONG}", 1, None),
)


def perftest(softhca, model, port, command, kind):
    """One figure. perftest sometimes cannot tell how fast the processor's clock is, so it has three
    attempts."""
    column, factor, *_ = kind
    for attempt in range(3):
        done = subprocess.run([
            softhca, "run", f"--model={model}", "--", "bash", "-c", PAIR, "pair",
            str(port + 1000 * attempt), MODELS[model], APART[0], APART[-1], *command.split(), "-F"
        ], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        line = re.search(r"^[ \t]*\d+[ \t]+\d+[ \t]+[\d. \t]+$", done.stdout, re.M)
        if not done.returncode and line:
            return float(line.group().split()[column]) * factor
    fail(f"{command} failed:\n{done.stdout}")


def measure(softhca, yardstick, rounds):
    """Of each row and model, the pairs of the HCA's value and TCP's."""
    pairs = {(row[0], model): [] for row in ROWS for model in MODELS}
    port = 19100 + os.getpid() % 500
    for _ in range(rounds):
        for what, kind, command, *_ in ROWS:
            for model in MODELS:
                port += 1
                tcp = moved(yardstick, kind[3])
                pairs[what, model].append((perftest(softhca, model, port, command, kind), tcp))
    return pairs


def moved(yardstick, what):
    return float(
        subprocess.run([yardstick, what], check=True, stdout=subprocess.PIPE, text=True).stdout)


def main(softhca, yardstick, awake, rounds):
    if not shutil.which("ib_send_lat"):
        print("skipped: perftest is not installed")
        return 77
    with kept_awake(awake) as how:
        pairs = measure(softhca, yardstick, rounds)
        memory = statistics.median(moved(yardstick, "memory") for _ in range(rounds))
    print(f"{len(os.sched_getaffinity(0))} processors, {how}; load {os.getloadavg()[0]:.1f}; {rounds} rounds")
    print(f"2 bytes through shared memory: {memory:.2f} us")
    print(f"{'quartiles 1, 2 and 3:':32}{'HCA':>21} {'TCP':>21} {'HCA / TCP':>21}  limit")
    good = [
        print_row(f"{what:17} {model:9} {kind[2]:4}", pairs[what, model],
                  "<=" if kind[2] == "us" else ">=", *limits) for what, kind, _, *limits in ROWS
        for model in MODELS
    ]
    return not all(good)


if __name__ == "__main__":
    sys.exit(measured(main, **words_of(__doc__.split("usage: ")[1], ROUNDS, "softhca", "yardstick", "awake")))
