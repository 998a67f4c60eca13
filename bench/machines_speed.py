#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares the emulated HCA between two machines with TCP between them. The machines are network
namespaces, and qperf measures both.

usage: machines_speed.py SOFTHCA YARDSTICK [ROUNDS, at least 2]
Measures on processors as they are, which sleep while they have nothing to do, and on such as are
kept awake. Each measurement of the HCA follows one of TCP, so other work on the machine meets both
alike. Prints the quartiles of each ratio to TCP. A limit concerns the worse quartile. It holds on a
machine without other work, and SOFTHCA_MARGIN=2 makes it twice as wide. Exit status 1 when a limit
is missed, 77 when qperf or a namespace cannot be had.

subprojects/softhca/machines.md has results and says where the time goes.
"""

import argparse
import contextlib
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from softhca_speed import awake

ROUNDS = 4
MARGIN = float(os.environ.get("SOFTHCA_MARGIN", "1"))
MODELS = ("connectx3", "connectx5")
ADDRESSES = ("10.77.0.1", "10.77.0.2")
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3, "bytes/sec": 1e-9, "KB/sec": 1e-6, "MB/sec": 1e-3,
         "GB/sec": 1}
PAIRS = 8

# What, qperf's test of the HCA and that of TCP, options of both, options of the HCA, and the limits
# of the ratio to TCP, on processors that sleep and on others. Times are in us, bandwidths in GB/s.
ROWS = (
    ("2 bytes, polling", "rc_lat", "tcp_lat", "-m 2", "-cp 1", (2.5, 9)),
    ("2 bytes, events", "rc_lat", "tcp_lat", "-m 2", "", (4.5, 10)),
    ("64 KiB", "rc_bw", "tcp_bw", "-m 64K", "", (0.35, 0.2)),
    ("1 MiB", "rc_bw", "tcp_bw", "-m 1M", "", (0.2, 0.3)),
)
FAIRNESS = f"fairness of {PAIRS} pairs"
STATES = "asleep", "awake"


class Machine:
    """A network namespace, in which commands run."""

    def __init__(self, place):
        self.holder = subprocess.Popen(["unshare", "--net", "cat"], stdin=subprocess.PIPE)
        self.address = ADDRESSES[place]
        while os.readlink(f"/proc/{self.holder.pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            time.sleep(0.01)

    def command(self, words):
        return ["nsenter", "-t", str(self.holder.pid), "--net", "--", *words]

    def must(self, *words):
        subprocess.run(self.command(words), check=True)


class Wire:
    """Both machines, and what is started on them."""

    def __init__(self, softhca, scratch):
        self.softhca, self.scratch, self.port = softhca, scratch, 19800
        self.machines = [Machine(place) for place in range(len(ADDRESSES))]
        first, second = (machine.holder.pid for machine in self.machines)
        subprocess.run(["ip", "link", "add", "v", "netns", str(first), "type", "veth", "peer", "name",
                        "v", "netns", str(second)], check=True)
        for machine in self.machines:
            machine.must("ip", "addr", "add", f"{machine.address}/24", "dev", "v")
            machine.must("ip", "link", "set", "v", "up")
            machine.must("ip", "link", "set", "lo", "up")
        (scratch / "hosts").write_text("\n".join(ADDRESSES) + "\n")

    def words(self, model, place, argv):
        """The command of @argv on a machine: on its adapters, or without @model as it is."""
        if not model:
            return self.machines[place].command(argv)
        return self.machines[place].command([
            "env", f"SOFTHCA_DIR={self.scratch}/m{place}", self.softhca, "run", f"--model={model}",
            f"--machines={self.scratch}/hosts", f"--key={self.scratch}/key", "--", *argv
        ])

    def qperf(self, model, pairs, test, options):
        """The figure of each of so many pairs of programs."""
        self.port += 2 * pairs
        ports = [str(self.port + 2 * i) for i in range(pairs)]
        servers = [subprocess.Popen(self.words(model, 0, ["qperf", "-lp", port])) for port in ports]
        clients = [subprocess.Popen(
            self.words(model, 1, ["qperf", "-lp", port, "-ws", "20", ADDRESSES[0], "-t", "1",
                                  *options.split(), test]),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for port in ports]
        texts = [client.communicate(timeout=60)[0] for client in clients]
        for server in servers:
            server.kill()
            server.wait()
        found = [re.search(r"= +([\d.]+) (\S+)", text) for text in texts]
        if not all(found):
            sys.exit(f"qperf {test} {options} failed:\n{''.join(texts)}")
        return [float(match.group(1)) * UNITS[match.group(2)] for match in found]


def fairness(figures):
    """Jain's index: 1 if all have the same."""
    return sum(figures)**2 / len(figures) / sum(figure**2 for figure in figures)


def measure(wire, rounds, state):
    """The ratios of each row and model, and of the fairness of several pairs."""
    ratios = {}
    for model in rounds * MODELS:
        for what, test, tcp, options, more, _ in ROWS:
            [base] = wire.qperf(None, 1, tcp, options)
            [ours] = wire.qperf(model, 1, test, f"{more} {options}")
            ratios.setdefault((what, model), []).append(ours / base)
        if state == "asleep":
            # The pairs do not begin at once, so that a short measurement is not fair.
            base = fairness(wire.qperf(None, PAIRS, "tcp_bw", "-m 64K -t 4"))
            ours = fairness(wire.qperf(model, PAIRS, "rc_bw", "-m 64K -t 4"))
            ratios.setdefault((FAIRNESS, model), []).append(ours / base)
    return ratios


def print_row(state, what, model, ratios):
    """Whether the limit is met."""
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    limits = {row[0]: row[-1] for row in ROWS}.get(what, (0.9, 0.9))
    limit, less = limits[STATES.index(state)], what.startswith("2 bytes")
    limit = limit * MARGIN if less else limit / MARGIN
    good = high <= limit if less else low >= limit
    print(f"{state:7}{what:20} {model:10}{low:7.2f}{middle:7.2f}{high:7.2f}  {'<=' if less else '>='}"
          f"{limit:5.2f}{'' if good else '  MISSED'}")
    return good


def main(softhca, yardstick, rounds):
    if not all(map(shutil.which, ("qperf", "ip", "unshare", "nsenter"))):
        print("skipped: qperf, ip, unshare or nsenter is not installed")
        return 77
    unshare = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*unshare, "true"]).returncode != 0:
        print("skipped: no network namespace can be made")
        return 77
    if os.geteuid() != 0:
        os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])
    print(f"{os.cpu_count()} processors, ratios to TCP, {rounds} rounds")
    print(f"{'':38}{'q1':>7}{'q2':>7}{'q3':>7}  limit of the worse one")
    good = []
    with tempfile.TemporaryDirectory(prefix="softhca-bench-") as scratch:
        wire = Wire(os.path.abspath(softhca), pathlib.Path(scratch))
        for state, kept in zip(STATES, (contextlib.nullcontext(), awake(yardstick))):
            with kept:
                good += [print_row(state, what, model, values)
                         for (what, model), values in measure(wire, rounds, state).items()]
    return not all(good)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("softhca")
    parser.add_argument("yardstick")
    parser.add_argument("rounds", nargs="?", type=int, default=ROUNDS)
    sys.exit(main(**vars(parser.parse_args())))
