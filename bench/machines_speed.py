#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Compares the emulated HCA between two machines with TCP between them. The machines are network
namespaces, and qperf measures both.

usage: machines_speed.py SOFTHCA AWAKE [ROUNDS, at least 2]
Measures on processors as they are, which sleep while they have nothing to do, and with processors
that are kept awake. Each measurement of the HCA follows one of TCP, so other work on the machine
meets both alike. Prints the quartiles of each figure and of its ratio to TCP. A limit concerns the
worse quartile of the ratio. It holds on a machine without other work, and SOFTHCA_MARGIN=2 makes it
twice as wide. Exit status 1 when a limit is missed, 2 when something cannot be measured, 77 when
qperf, a namespace or a second processor cannot be had.

subprojects/softhca/machines.md has results and says where the time goes.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import typing

from against_tcp import APART, kept_awake, print_row, words_of
from measured import fail, measured

ROUNDS = 4
MODELS = ("connectx3", "connectx5")
ADDRESSES = ("10.77.0.1", "10.77.0.2")
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3, "bytes/sec": 1e-9, "KB/sec": 1e-6, "MB/sec": 1e-3,
         "GB/sec": 1}

# Of a pair each program has a processor, which qperf counts from 1. The daemons are anywhere.
PINNED = f"-la {int(APART[-1]) + 1} -ra {int(APART[0]) + 1}"


class Row(typing.NamedTuple):
    """A figure of the HCA, as a ratio to TCP's: us, GB/s, or the fairness of several pairs, which
    do not begin at once, so they are measured for longer."""
    what: str
    test: str  # of qperf, for the HCA
    tcp: str  # and for TCP
    options: str  # of both
    sign: str
    limits: tuple  # on processors that sleep, and on others; None: not measured
    aim: float = None
    polls: bool = False
    pairs: int = 1


ROWS = (
    Row("2 bytes, polling", "rc_lat", "tcp_lat", f"-m 2 {PINNED}", "<=", (4.5, 12), 2.5, polls=True),
    Row("2 bytes, events", "rc_lat", "tcp_lat", f"-m 2 {PINNED}", "<=", (6.5, 10)),
    Row("64 KiB", "rc_bw", "tcp_bw", "-m 64K", ">=", (0.6, 0.45), 0.7),
    Row("64 KiB, RDMA write", "rc_rdma_write_bw", "tcp_bw", "-m 64K", ">=", (0.6, 0.45)),
    Row("64 KiB, RDMA read", "rc_rdma_read_bw", "tcp_bw", "-m 64K", ">=", (0.4, 0.3)),
    Row("1 MiB", "rc_bw", "tcp_bw", "-m 1M", ">=", (0.5, 0.5), 0.7),
    Row("fairness of 8 pairs", "rc_bw", "tcp_bw", "-m 64K -t 4", ">=", (0.8, None), 1.0, pairs=8),
)
STATES = "asleep", "awake"


def start(ends, words, **options):
    """A process that is killed at the end of @ends."""
    process = subprocess.Popen(words, **options)
    ends.callback(process.wait)
    ends.callback(process.kill)
    return process


class Machine:
    """A network namespace, in which commands run."""

    def __init__(self, address, ends):
        self.holder = start(ends, ["unshare", "--net", "cat"], stdin=subprocess.PIPE)
        self.address = address
        for _ in range(1000):
            if os.readlink(f"/proc/{self.holder.pid}/ns/net") != os.readlink("/proc/self/ns/net"):
                return
            time.sleep(0.01)
        fail("unshare has made no network namespace in 10 s")

    def command(self, words):
        return ["nsenter", "-t", str(self.holder.pid), "--net", "--", *words]

    def must(self, *words):
        subprocess.run(self.command(words), check=True)


class Wire:
    """Both machines, and what is started on them."""

    def __init__(self, softhca, scratch, ends):
        self.softhca, self.scratch, self.port = softhca, scratch, 19800
        self.machines = [Machine(address, ends) for address in ADDRESSES]
        first, second = (machine.holder.pid for machine in self.machines)
        subprocess.run(["ip", "link", "add", "v", "netns", str(first), "type", "veth", "peer", "name",
                        "v", "netns", str(second)], check=True)
        for machine in self.machines:
            machine.must("ip", "addr", "add", f"{machine.address}/24", "dev", "v")
            machine.must("ip", "link", "set", "v", "up")
            machine.must("ip", "link", "set", "lo", "up")
        (scratch / "hosts").write_text("\n".join(ADDRESSES) + "\n")

    def words(self, model, machine, argv):
        """The command of @argv on a machine: on its adapters, or without @model as it is."""
        if not model:
            return self.machines[machine].command(argv)
        return self.machines[machine].command([
            "env", f"SOFTHCA_DIR={self.scratch}/m{machine}", self.softhca, "run", f"--model={model}",
            f"--machines={self.scratch}/hosts", f"--key={self.scratch}/key", "--", *argv
        ])

    def qperf(self, model, pairs, test, options):
        """The figure of a pair of programs, or the fairness of several."""
        self.port += 2 * pairs
        ports = [str(self.port + 2 * i) for i in range(pairs)]
        with contextlib.ExitStack() as ends:
            for port in ports:
                start(ends, self.words(model, 0, ["qperf", "-lp", port]))
            clients = [start(
                ends, self.words(model, 1, ["qperf", "-lp", port, "-ws", "20", ADDRESSES[0], "-t",
                                            "1", *options.split(), test]),
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for port in ports]
            try:
                texts = [client.communicate(timeout=60)[0] for client in clients]
            except subprocess.TimeoutExpired:
                fail(f"qperf {test} {options} has not ended in 60 s")
        found = [re.search(rf"= +([\d.]+) ({'|'.join(UNITS)})\n", text) for text in texts]
        if not all(found):
            fail(f"qperf {test} {options} failed:\n{''.join(texts)}")
        figures = [float(match.group(1)) * UNITS[match.group(2)] for match in found]
        return fairness(figures) if pairs > 1 else figures[0]


def fairness(figures):
    """Jain's index: 1 if all have the same."""
    return sum(figures)**2 / len(figures) / sum(figure**2 for figure in figures)


def measure(wire, rounds, rows):
    """Of each row and model, the pairs of the HCA's value and TCP's."""
    pairs = {}
    for model in rounds * MODELS:
        for row in rows:
            base = wire.qperf(None, row.pairs, row.tcp, row.options)
            more = "-cp 1 " if row.polls else ""
            ours = wire.qperf(model, row.pairs, row.test, more + row.options)
            pairs.setdefault((row.what, model), []).append((ours, base))
    return pairs


def compare(wire, rounds, state):
    """Whether each row meets its limit in that state of the processors."""
    rows = [row for row in ROWS if row.limits[state]]
    pairs = measure(wire, rounds, rows)
    return [
        print_row(f"{STATES[state]:7}{row.what:26} {model:9}", pairs[row.what, model], row.sign,
                  row.limits[state], row.aim) for row in rows for model in MODELS
    ]


def main(softhca, awake, rounds):
    for program in ("qperf", "ip", "unshare", "nsenter"):
        if not shutil.which(program):
            print(f"skipped: {program} is not installed")
            return 77
    unshare = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*unshare, "true"]).returncode != 0:
        print("skipped: no network namespace can be made")
        return 77
    if os.geteuid() != 0:
        os.execvp(unshare[0], [*unshare, sys.executable, *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # of a time limit: as any other end
    print(f"load {os.getloadavg()[0]:.1f}; {rounds} rounds; us, GB/s, fairness")
    print(f"{'quartiles 1, 2 and 3:':44}{'HCA':>21} {'TCP':>21} {'HCA / TCP':>21}  limit")
    good = []
    with tempfile.TemporaryDirectory(prefix="softhca-bench-") as scratch, \
            contextlib.ExitStack() as ends:
        wire = Wire(os.path.abspath(softhca), pathlib.Path(scratch), ends)
        for state, kept in enumerate((contextlib.nullcontext(), kept_awake(awake))):
            with kept:
                good += compare(wire, rounds, state)
    return not all(good)


if __name__ == "__main__":
    sys.exit(measured(main, **words_of(__doc__.split("usage: ")[1], ROUNDS, "softhca", "awake")))
