#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Drives the storm: starts processes of storm.c and kills them at random. Now and then all stop and
are compared.

usage: storm.py STORM_PROGRAM SOFTHCA XRC_COMPAT DIRECTORY PROCESSES KILLS SEED
Runs under softhca with the shim preloaded. Three lists of registrations must agree: what each
process believes, what the emulated kernel has (softhca ctl objects), and what the registration
table has (xrc-compat ps).
Exit status 0 and "KILLS kills, COUNTS counts, all agreed" at the end.
"""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time

TIMEOUT = 30


class Disagreement(Exception):
    pass


class Process:
    """One storm.c."""

    def __init__(self, argv):
        self.popen = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    @property
    def pid(self):
        return self.popen.pid

    def tell(self, command):
        try:
            self.popen.stdin.write(command)
            self.popen.stdin.flush()
        except BrokenPipeError:
            raise Disagreement(
                f"process {self.pid} ended by itself: {self.popen.stdout.read().decode()}"
            ) from None

    def line(self):
        ready, _, _ = select.select([self.popen.stdout], [], [], TIMEOUT)
        if not ready:
            raise Disagreement(f"process {self.pid} hangs")
        return self.popen.stdout.readline().decode().strip()

    def kill(self):
        self.popen.kill()
        self.popen.wait()
        self.popen.stdin.close()
        self.popen.stdout.close()

    def finish(self):
        self.tell(b"q")
        try:
            status = self.popen.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Disagreement(f"process {self.pid} hangs at its end") from None
        if status:
            raise Disagreement(
                f"process {self.pid} ended with {status}: {self.popen.stdout.read().decode()}")


class Storm:
    def __init__(self, argv):
        self.program, self.softhca, self.xrc_compat, self.directory = argv[1:5]
        self.random = random.Random(int(argv[7]))
        self.processes = [self.start() for _ in range(int(argv[5]))]
        self.counts = 0

    def start(self):
        return Process([self.program, self.directory, str(self.random.randrange(1 << 30))])

    def kill_one(self):
        index = self.random.randrange(len(self.processes))
        self.processes[index].kill()
        self.processes[index] = self.start()

    def ask(self, command):
        """{pid: line}: the answers of all processes to a command."""
        for process in self.processes:
            process.tell(command)
        result = {process.pid: process.line() for process in self.processes}
        for pid, line in result.items():
            if line.startswith("unexpected"):
                raise Disagreement(f"process {pid}: {line}")
        return result

    def reported(self):
        """{pid: {number, ...}} as the processes say. All stop before the first reports, so that no
        report is outdated."""
        self.ask(b"s")
        return {
            pid: {int(word.split(":")[1]) for word in line.split()}
            for pid, line in self.ask(b"r").items()
        }

    def kernel(self):
        """{pid: {number, ...}}: target QP handles in the emulated kernel."""
        out = subprocess.run([self.softhca, "ctl", "objects", "--json"], stdout=subprocess.PIPE,
                             check=True, timeout=TIMEOUT).stdout
        result = {}
        for context in json.loads(out)["contexts"]:
            numbers = result.setdefault(context["pid"], set())
            numbers.update(
                o["number"] for o in context["objects"] if o.get("qp_type") == "XRC_RECV")
        return result

    def table(self):
        """{pid: {number, ...}}: live registrations in the table."""
        out = subprocess.run([self.xrc_compat, "ps", "--json"], stdout=subprocess.PIPE, check=True,
                             timeout=TIMEOUT).stdout
        result = {}
        for row in registrations(json.loads(out)):
            result.setdefault(row[0], set()).add(row[1])
        return result

    def count(self):
        """Stops all processes, compares the three lists, and lets them go on."""
        reported = self.reported()
        for name, witness in (("table", self.table), ("kernel", self.kernel)):
            self.compare(name, witness, reported)
        for process in self.processes:
            process.tell(b"g")
        self.counts += 1

    def compare(self, name, witness, reported):
        """Tries for 30 seconds, because the emulator may notice a kill later than this process
        does."""
        deadline = time.monotonic() + 30
        while True:
            seen = {pid: numbers for pid, numbers in witness().items() if numbers}
            expected = {pid: numbers for pid, numbers in reported.items() if numbers}
            if seen == expected:
                return
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
        for pid in sorted(set(seen) | set(expected)):
            if seen.get(pid) != expected.get(pid):
                raise Disagreement(
                    f"process {pid} says {sorted(expected.get(pid, ()))}, the {name} "
                    f"{sorted(seen.get(pid, ()))}")

    def run(self, kills):
        for number in range(1, kills + 1):
            self.kill_one()
            if self.random.random() < 0.2:
                time.sleep(self.random.random() * 0.02)
            if number % 50 == 0 or number == kills:
                self.count()
        for process in self.processes:
            process.finish()
        left = {pid: numbers for pid, numbers in self.kernel().items() if numbers}
        if left:
            raise Disagreement(f"QPs left at the end: {left}")


def registrations(document):
    """(pid, number) of every live registration in what "xrc-compat ps --json" prints."""
    return [(row["pid"], row["qp"]) for row in document["registrations"]
            if row["qp"] and row["state"] == "live"]


def main(argv):
    signal.alarm(3600)
    os.environ["XRC_COMPAT_TABLE_DIR"] = argv[4]
    storm = Storm(argv)
    try:
        storm.run(int(argv[6]))
    except Disagreement as what:
        print(f"storm: {what}", file=sys.stderr)
        return 1
    finally:
        for process in storm.processes:
            if process.popen.poll() is None:
                process.popen.kill()
    print(f"{argv[6]} kills, {storm.counts} counts, all agreed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
