# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Runs hold-registrations on the emulated HCA, and reads what `xrc-compat ps` says of it."""

import json
import os
import signal
import subprocess

import pytest

from waiting import read_until, wait_for_the_end, wait_for_the_end_of_group

QPS = 3

# A Python program that is not dumpable, so its files in /proc are root's. It ends with its input.
HIDE = "import ctypes, sys; ctypes.CDLL(None).prctl(4, 0); print(flush=True); sys.stdin.read()"


class Holder:
    """The program, in a process group of its own."""

    def __init__(self, argv, env, domain):
        self.domain = domain
        # The program also has another file of that file system open. ps must not take it for the
        # domain's.
        with domain.with_name("no-domain").open("w+") as other:
            self.process = subprocess.Popen([str(a) for a in argv], env=env, stdin=other,
                                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                            start_new_session=True)
        self.pids = {}
        self.numbers = {}
        try:
            text = read_until(self.process.stdout, lambda text: text.count(b"\n") == 2)
        except AssertionError as error:
            self.end()
            pytest.fail(f"the holder's two lines: {error}: {self.process.stderr.read()}")
        for line in text.splitlines():
            role, pid, *numbers = line.split()
            self.pids[role] = int(pid)
            self.numbers[role] = [int(n) for n in numbers]

    def kill(self, role):
        """Kills this process. Returns when the kernel has released all that it held."""
        os.kill(self.pids[role], signal.SIGKILL)
        if self.pids[role] == self.process.pid:
            self.process.wait(30)
        else:
            wait_for_the_end(self.pids[role])

    def end(self):
        """Kills both processes. Returns when the kernel has released all that they held."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(30)
        wait_for_the_end_of_group(self.process.pid)


def registrations(tool, holder):
    """The rows of the holder's domain: ps lists those of all programs of the machine."""
    st = holder.domain.stat()
    domain = f"{os.major(st.st_dev)}:{os.minor(st.st_dev)}:{st.st_ino}"
    return [row for row in json.loads(tool("ps", "--json").stdout)["registrations"]
            if row["domain"] == domain]


def pairs(rows):
    return sorted((row["qp"], row["pid"]) for row in rows)


def expected(holder, *roles):
    return sorted((number, holder.pids[role]) for role in roles for number in holder.numbers[role])
