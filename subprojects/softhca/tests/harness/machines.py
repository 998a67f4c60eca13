# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Machines of network, pid, ipc and mount namespaces, on one switch or on a bad cable. They share
the list of machines and the key, and each has its own directory for a daemon."""

import contextlib
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import running
from emulator import Daemon
from installed import need
from waiting import listens, process_state, wait_for

# Says that it is up, and stays until its stdin ends. As the first process of a pid namespace it
# reaps all others, and these end with it.
STAY = "trap '' CHLD; {} && echo up && exec cat"

BAD_CABLE = pathlib.Path(__file__).with_name("bad_cable.py")


def children_of(pid):
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(stat.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(stat.parent.name))
    return found


class Machine(Daemon):
    """A machine, and the daemon that start_daemon() starts there. What runs there finds it by the
    environment."""

    def __init__(self, network, place, softhca, scratch):
        super().__init__(self.inside, softhca, scratch / f"m{place}")
        self.network, self.place, self.address = network, place, f"10.77.0.{place + 1}"
        self.ethernet = False  # whether the adapters of its daemon are
        self.scratch.mkdir()
        self.holder = network.hold(
            ["unshare", "--net", "--ipc", "--mount", "--pid", "--fork", "--mount-proc"],
            f"mount --bind {scratch}/hosts /etc/hosts")
        self.first = wait_for(lambda: children_of(self.holder.pid), "machine")[0]
        network.plug(place, self.first)
        self.ip("addr", "add", f"{self.address}/24", "dev", "v")
        for link in ("lo", "v"):
            self.ip("link", "set", link, "up")

    def command(self, argv, env=None):
        settings = {"SOFTHCA_DIR": self.directory, "LD_PRELOAD": self.preload, **(env or {})}
        return [
            "nsenter", "-t", self.first, *self.network.as_user, "--net", "--ipc", "--mount",
            "--pid", "--", "env", *(f"{name}={value}" for name, value in settings.items()), *argv
        ]

    def inside(self, argv, timeout=30, env=None):
        return running.run(self.command(argv, env), timeout=timeout)

    def must(self, *argv, **kw):
        done = self.inside(argv, **kw)
        assert done.returncode == 0, (argv, done.stdout, done.stderr)
        return done.stdout + done.stderr

    def start(self, argv, env=None, **kw):
        """The Popen of nsenter, whose child is the program: kill_program() ends that."""
        return super().start(self.command(argv, env), start_new_session=True, **kw)

    def kill_program(self, program):
        """The program itself, which is a child of the Popen. Returns what it has said."""
        if program.stdout.closed or program.returncode is not None:
            return ""
        for pid in children_of(program.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return program.communicate(timeout=30)[0]

    @contextlib.contextmanager
    def started(self, argv, **kw):
        """The Popen of a program that is killed in the end."""
        program = self.start(argv, **kw)
        try:
            yield program
        finally:
            self.kill_program(program)

    def ip(self, *words):
        self.must("ip", *words, env={"LD_PRELOAD": ""})

    def wait_for_listener(self, port):
        wait_for(lambda: listens(port, self.first), f"listener at {port}")

    @property
    def pid(self):
        """The daemon's, outside the machine. A later daemon has another one."""
        [pid] = [pid for pid in self.processes() if self.name_of(pid) == "softhca-daemon"]
        return pid

    @staticmethod
    def name_of(pid):
        with contextlib.suppress(OSError):
            return pathlib.Path(f"/proc/{pid}/comm").read_text().strip()

    def processes(self):
        """All but the first of the machine."""
        namespace = os.readlink(f"/proc/{self.first}/ns/pid")
        found = []
        for link in pathlib.Path("/proc").glob("[0-9]*/ns/pid"):
            with contextlib.suppress(OSError):
                if os.readlink(link) == namespace:
                    found.append(int(link.parts[2]))
        return [pid for pid in found if pid != self.first and process_state(pid) != "Z"]

    def options(self, *settings):
        return [f"--machines={self.network.list}", f"--key={self.network.key}", *settings]

    def start_daemon(self, *settings, env=None):
        """The Popen of `softhca start`, which returns when all machines have met."""
        self.ethernet = "--link=ethernet" in settings
        return self.start([self.softhca, "start", *self.options(*settings)],
                          env={"LD_PRELOAD": "", **(env or {})})


class Network:
    """Where the machines are plugged in."""

    def __init__(self, scratch, cable=None):
        need("ip", "unshare", "nsenter")
        self.list, self.key = scratch / "list", scratch / "key"
        self.holders, self.cable = [], cable
        self.key.touch(mode=0o600)
        self.key.write_bytes(bytes(range(16)))
        (scratch / "hosts").write_text("127.0.0.1 localhost\n127.0.1.1 m1\n10.77.0.2 m1\n"
                                       "10.77.0.1 both\nfd00::1 both\n")
        own = [] if os.geteuid() == 0 else ["-Ur"]
        self.as_user = []
        self.hub = self.hold(["unshare", *own, "--net"],
                             "true" if cable else "ip link add s type bridge && ip link set s up")
        self.as_user = ["--user", "--preserve-credentials"] if own else []

    def enter(self):
        return ["nsenter", "-t", str(self.hub.pid), *self.as_user, "--net", "--"]

    def hold(self, unshare, script):
        """A process that keeps namespaces, for as long as this one lives."""
        enter = self.enter() if self.holders else []
        return self.stay([*enter, *unshare, "sh", "-c", STAY.format(script)])

    def stay(self, argv):
        first = not self.holders
        holder = subprocess.Popen([str(word) for word in argv], stdin=subprocess.PIPE, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.holders.append(holder)
        if holder.stdout.readline() != "up\n":
            said = holder.communicate()[1].strip()
            if first:
                pytest.skip(f"no namespaces here: {said}")
            pytest.fail(f"{argv}: {said}")
        return holder

    def plug(self, place, pid):
        enter, end = self.enter(), f"h{place}"
        for words in (f"add {end} type veth peer name v netns {pid}", f"set {end} up",
                      "" if self.cable else f"set {end} master s"):
            if words:
                subprocess.run([*enter, "ip", "link", *words.split()], check=True, timeout=30)
        if self.cable and place:
            assert place == 1, "a cable has two ends"
            self.stay([*enter, sys.executable, BAD_CABLE, *self.cable, "h0", "h1"])

    def end(self):
        for holder in reversed(self.holders):
            holder.kill()
            holder.communicate()


def start_daemons(machines, *settings):
    """On all of them, which meet."""
    starting = [machine.start_daemon(*settings) for machine in machines]
    said = [start.communicate(timeout=120)[0] for start in starting]
    assert {start.returncode for start in starting} == {0}, said


def across(server, client, serve, ask, listening=lambda: None, timeout=60, **kw):
    """Runs a program on one machine and its client on another, as soon as listening() returns. Both
    must succeed: what they said."""
    with server.started(serve, **kw) as one:
        listening()
        asked = client.inside(ask, timeout=timeout, **kw)
        try:
            said = one.communicate(timeout=20 if asked.returncode == 0 else 1)[0]
        except subprocess.TimeoutExpired:
            said = "(it goes on)"
    assert (one.returncode, asked.returncode) == (0, 0), (serve, said, ask, asked)
    return said + asked.stdout
