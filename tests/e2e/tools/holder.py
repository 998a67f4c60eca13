# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""An old program that holds registrations, on the emulated HCA, for the tests of what `xrc-compat ps` and `gc` say of it."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from waiting import read_until, wait_for

QPS = 3


class Holder:
    """hold-registrations on the emulated HCA, in a process group of its own."""

    def __init__(self, argv, env, domain):
        self.domain = domain
        # Another file of the same file system, open before the domain's: ps must not take it for that.
        with domain.with_name("no-domain").open("w+") as other:
            self.process = subprocess.Popen([str(a) for a in argv], env=env, stdin=other, stdout=subprocess.PIPE,
                                            stderr=subprocess.PIPE, start_new_session=True)
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

    def environment(self):
        """Of the emulated HCA that it runs on, for programs beside it: without the shim, which ps does not need."""
        text = pathlib.Path(f"/proc/{self.pids['creator']}/environ").read_text()
        values = dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)
        preload = [part for part in values["LD_PRELOAD"].split(":") if "softhca" in part]
        return {"LD_PRELOAD": ":".join(preload), "SOFTHCA_DIR": values["SOFTHCA_DIR"]}

    def heard(self, end):
        """The events, each as (role, type, number), until each process has told of one of type @end."""
        def events(text):
            lines = [line.split() for line in text.splitlines()[:text.count(b"\n")]]
            return [(role.decode(), int(kind), int(number)) for role, _, kind, number in lines]

        told = read_until(self.process.stdout, lambda text: sum(kind == end for _, kind, _ in events(text)) >= len(self.pids))
        return events(told.encode())

    def kill(self, role):
        """Returns when the kernel has really released what the process held."""
        os.kill(self.pids[role], signal.SIGKILL)
        if self.pids[role] == self.process.pid:
            self.process.wait(30)
        else:
            wait_for(lambda: not alive(self.pids[role]), f"end of the {role}")

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(30)


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def registrations(tool):
    return json.loads(tool("ps", "--json").stdout)["registrations"]


def pairs(rows):
    return sorted((row["qp"], row["pid"]) for row in rows)


def expected(holder, *roles):
    return sorted((number, holder.pids[role]) for role in roles for number in holder.numbers[role])
