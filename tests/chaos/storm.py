#!/usr/bin/python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Starts processes of storm.c and kills them at random. After every 50 kills it stops all
processes and compares three lists of registrations.

usage: storm.py STORM_PROGRAM SOFTHCA XRC_COMPAT DIRECTORY PROCESSES KILLS SEED
Runs under softhca with the shim preloaded. The lists are what each process reports, what the
emulated kernel has (softhca ctl objects), and what the registration table has (xrc-compat ps).
Exit status 0 and "KILLS kills, COMPARED registrations compared, all agreed" at the end.
"""

import json
import random
import select
import signal
import subprocess
import sys
import time

TIMEOUT = 30
STOP, GO_ON, QUIT = b"s", b"g", b"q"  # storm.c


class StormError(Exception):
    pass


class Process:
    """One process of storm.c."""

    def __init__(self, argv):
        self.popen = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    @property
    def pid(self):
        return self.popen.pid

    def ended(self):
        """The error of a process that should not have ended like this."""
        return StormError(f"process {self.pid} ended with {self.popen.wait(TIMEOUT)}: "
                          f"{self.popen.stdout.read().decode()}")

    def send(self, command):
        try:
            self.popen.stdin.write(command)
            self.popen.stdin.flush()
        except BrokenPipeError:
            raise self.ended() from None

    def line(self):
        ready, _, _ = select.select([self.popen.stdout], [], [], TIMEOUT)
        if not ready:
            raise StormError(f"process {self.pid} did not answer within {TIMEOUT} s")
        return self.popen.stdout.readline().decode().strip()

    def kill(self):
        self.popen.kill()
        if self.popen.wait() != -signal.SIGKILL:
            raise self.ended()
        self.popen.stdin.close()
        self.popen.stdout.close()

    def finish(self):
        self.send(QUIT)
        try:
            status = self.popen.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            raise StormError(f"process {self.pid} did not exit within {TIMEOUT} s") from None
        if status:
            raise self.ended()


class Storm:
    def __init__(self, argv):
        self.program, self.softhca, self.xrc_compat, self.directory = argv[1:5]
        self.random = random.Random(int(argv[7]))
        self.processes = [self.start() for _ in range(int(argv[5]))]
        self.compared = 0  # registrations

    def start(self):
        return Process([self.program, self.directory, str(self.random.randrange(1 << 30))])

    def kill_one(self):
        index = self.random.randrange(len(self.processes))
        self.processes[index].kill()
        self.processes[index] = self.start()

    def reported(self):
        """{(pid, number)} as the processes report. They have stopped after this."""
        for process in self.processes:
            process.send(STOP)
        lines = {process.pid: process.line() for process in self.processes}
        for pid, line in lines.items():
            if line.startswith("FAIL"):
                raise StormError(f"process {pid}: {line}")
        return {(pid, int(number)) for pid, line in lines.items() for number in line.split()}

    def kernel(self):
        """{(pid, number)}: target QP handles in the emulated kernel."""
        return {(context["pid"], o["number"])
                for context in listing(self.softhca, "ctl", "objects")["contexts"]
                for o in context["objects"] if o.get("qp_type") == "XRC_RECV"}

    def table(self):
        """{(pid, number)}: registrations in the tables. ps lists those of other programs, too."""
        own = {process.pid for process in self.processes}
        return {(row["pid"], row["qp"])
                for row in listing(self.xrc_compat, "ps", "--json")["registrations"]
                if row["qp"] and row["pid"] in own}

    def compare_all(self, expected):
        for name, listed in (("table", self.table), ("kernel", self.kernel)):
            self.compare(name, listed, expected)

    @staticmethod
    def compare(name, listed, expected):
        """Tries again until TIMEOUT, because the emulator may notice a kill later than this process
        does."""
        deadline = time.monotonic() + TIMEOUT
        while (seen := listed()) != expected:
            if time.monotonic() > deadline:
                raise StormError(f"(process, QP) that the {name} lacks: {sorted(expected - seen)}, "
                                 f"that only it lists: {sorted(seen - expected)}")
            time.sleep(0.1)

    def stop_and_compare(self):
        """Stops all processes, compares the three lists, and lets the processes go on."""
        reported = self.reported()
        self.compare_all(reported)
        self.compared += len(reported)
        for process in self.processes:
            process.send(GO_ON)

    def run(self, kills):
        for number in range(1, kills + 1):
            self.kill_one()
            if self.random.random() < 0.2:
                time.sleep(self.random.random() * 0.02)
            if number % 50 == 0 or number == kills:
                self.stop_and_compare()
        for process in self.processes:
            process.finish()
        self.compare_all(set())
        if not self.compared:
            raise StormError("no process had a registration when the lists were compared")


def listing(*command):
    """What a command prints as JSON. `ps` ends with 1 if another test forges tables meanwhile."""
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, timeout=TIMEOUT)
    if done.returncode not in (0, 1):
        raise StormError(f"{command}: status {done.returncode}")
    return json.loads(done.stdout)


def main(argv, kind=Storm):
    storm = kind(argv)
    try:
        storm.run(int(argv[6]))
    except StormError as error:
        print(f"storm: {error}", file=sys.stderr)
        return 1
    finally:
        for process in storm.processes:
            if process.popen.poll() is None:
                process.popen.kill()
    print(f"{argv[6]} kills, {storm.compared} registrations compared, all agreed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
