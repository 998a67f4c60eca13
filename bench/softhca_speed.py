#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares the emulated HCA, each model of it, with loopback TCP and with shared memory.

usage: softhca_speed.py SOFTHCA YARDSTICK [ROUNDS]
A round measures everything once, so that other work on the machine meets all of it alike. Prints
the median of each figure, its ratio to TCP's median, and the limit of that ratio. No figure has a
limit of its own, which would mean another thing on each machine. The limits hold on a machine
without other work; SOFTHCA_MARGIN=2 makes each of them twice as wide. Exit status 1 when a limit is
missed, 77 when perftest is not installed.

docs/testing.md says where the time of a short message goes.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys

ROUNDS = 7
MARGIN = float(os.environ.get("SOFTHCA_MARGIN", "1"))
MODELS = {"connectx3": "mlx4", "connectx5": "mlx5"}

# Server in the background, then the client until it gets through.
PAIR = r"""
port=$1 device=$2; shift 2
"$@" -d ${device}_0 -p $port > /dev/null 2>&1 & server=$!
for try in $(seq 200); do
    grep -q ":$(printf %04X $port) 00000000.*0A" /proc/net/tcp /proc/net/tcp6 && break
    sleep 0.02
done
timeout 50 "$@" -d ${device}_1 -p $port localhost || { kill $server; exit 1; }
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

# What, kind, perftest's command, the limits of the ratio to TCP: of connectx3, of connectx5. Above
# them a latency fails, below them a bandwidth or rate. The limits of latencies are a third more
# than the medians on two processors, which differ by less than a fifth from one run to the next.
# Those of bandwidths and rates are a third of the medians, since other work that uses the memory
# halves them. With events a message wakes up the daemon, the receiver and, for its own completion,
# the sender, each of which sleeps. TCP wakes up the receiver only: 14 to 23 us against 7.
ROWS = (
    ("RC send, polling", LATENCY, f"ib_send_lat {SHORT}", 1.1, 1.1),
    ("XRC send, polling", LATENCY, f"ib_send_lat -c XRC {SHORT}", 1.1, 1.1),
    ("RC write, polling", LATENCY, f"ib_write_lat {SHORT}", 1.1, 1.1),
    ("RC send, events", LATENCY, f"ib_send_lat -e {SHORT}", 4, 4),
    ("XRC send, events", LATENCY, f"ib_send_lat -c XRC -e {SHORT}", 4, 4),
    ("RC send, 2 bytes", RATE, "ib_send_bw -s 2 -n 50000 -I 16", 0.5, 0.5),
    ("RC send, 64 KiB", BANDWIDTH, f"ib_send_bw {LONG}", 0.55, 0.55),
    ("XRC send, 64 KiB", BANDWIDTH, f"ib_send_bw -c XRC {LONG}", 0.55, 0.55),
    ("RC write, 64 KiB", BANDWIDTH, f"ib_write_bw {LONG}", 0.55, 0.55),
)


def perftest(softhca, model, port, command, kind):
    """One figure. perftest sometimes cannot tell how fast the processor's clock is, so it has three
    attempts."""
    column, factor, *_ = kind
    for attempt in range(3):
        done = subprocess.run([
            softhca, "run", f"--model={model}", "--", "bash", "-c", PAIR, "pair",
            str(port + 1000 * attempt), MODELS[model], *command.split(), "-F"
        ], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        line = re.search(r"^[ \t]*\d+[ \t]+\d+[ \t]+[\d. \t]+$", done.stdout, re.M)
        if not done.returncode and line:
            return float(line.group().split()[column]) * factor
    sys.exit(f"{command} failed:\n{done.stdout}")


def measure(softhca, yardstick, rounds):
    """The values of each row and model, and of each yardstick."""
    values = {(row[0], model): [] for row in ROWS for model in MODELS}
    values.update({what: [] for what in ("memory", "tcp", "stream", "rate")})
    port = 19100 + os.getpid() % 500
    for _ in range(rounds):
        for what in ("memory", "tcp", "stream", "rate"):
            out = subprocess.run([yardstick, what], check=True, stdout=subprocess.PIPE, text=True)
            values[what].append(float(out.stdout))
        for what, kind, command, *_ in ROWS:
            for model in MODELS:
                port += 1
                values[what, model].append(perftest(softhca, model, port, command, kind))
    return values


def print_row(row, model, limit, values):
    """Whether the limit is met."""
    what, (_, _, unit, yardstick), *_ = row
    median, tcp = statistics.median(values[what, model]), statistics.median(values[yardstick])
    ratio = median / tcp
    limit = limit * MARGIN if unit == "us" else limit / MARGIN
    good = ratio <= limit if unit == "us" else ratio >= limit
    print(f"{what:20}{model:11}{median:9.3f} {unit:5}{ratio:7.2f} "
          f"{'<=' if unit == 'us' else '>='}{limit:5.2f}{'' if good else '  MISSED'}")
    return good


def main(softhca, yardstick, rounds):
    if not shutil.which("ib_send_lat"):
        print("skipped: perftest is not installed")
        return 77
    values = measure(softhca, yardstick, rounds)
    median = {name: statistics.median(values[name]) for name in ("memory", "tcp", "stream", "rate")}
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, medians of {rounds} rounds")
    print("shared memory {memory:.2f} us; TCP {tcp:.2f} us, {stream:.2f} GB/s, "
          "{rate:.2f} M/s".format(**median))
    print(f"{'':31}{'median':>9} {'':5}{'/ TCP':>7}  limit")
    good = [
        print_row(row, model, limit, values) for row in ROWS
        for model, limit in zip(MODELS, row[3:])
    ]
    return not all(good)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("softhca")
    parser.add_argument("yardstick")
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    sys.exit(main(**vars(parser.parse_args())))
