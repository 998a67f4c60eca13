# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Machines that do not meet: what the user is told, and what comes to the port uninvited."""

import contextlib
import os
import re
import socket
import subprocess
import time

import pytest

from machines import across, start_daemons
from built import PROGRAMS
from waiting import wait_for

pytestmark = pytest.mark.any_model

PORT = 18518


def refused(machine, *settings, words="start", wait=1, program=()):
    """`softhca start` or run refuses with status 125. What it says."""
    begin = time.monotonic()
    done = machine.inside([
        machine.softhca, words, *machine.options(f"--machines_wait={wait}", *settings), *program
    ], env={"LD_PRELOAD": ""})
    assert done.returncode == 125, done
    assert time.monotonic() < begin + wait + 5
    wait_for(lambda: not machine.processes(), "end of the daemon")
    assert not machine.directory.exists()
    return done.stderr


def test_a_machine_that_does_not_come_is_named(build):
    one, two = build(2)
    assert "machine 10.77.0.2 is missing" in refused(one)
    assert "machine 10.77.0.1 is missing" in refused(two, words="run", program=["--", "true"])


def both_refused(machines, change):
    """Two machines try to meet, of which one has changed something. What they say: the one that
    gives up later may only know that the other has gone."""
    words = [["--machines_wait=2"], ["--machines_wait=2", *change]]
    starting = [machine.start_daemon(*more) for machine, more in zip(machines, words)]
    said = [start.communicate(timeout=30)[0] for start in starting]
    assert [start.returncode for start in starting] == [125, 125], said
    return said


def test_a_machine_with_another_key_or_other_settings_is_none_of_them(build, in_memory):
    machines = build(2)
    other = in_memory / "other"
    other.touch(mode=0o600)
    other.write_bytes(bytes(16))
    said = both_refused(machines, [f"--key={other}"])
    assert any("another key" in words for words in said), said
    for change in ("--devices=1", "--link=ethernet"):
        said = both_refused(machines, [change])
        assert any("other settings" in words for words in said), said


def test_files_that_cannot_be_used(build, in_memory):
    one, _ = build(2)
    strange = in_memory / "strange"
    strange.write_text("10.77.0.9\n")
    assert "this one has the address of none" in refused(one, f"--machines={strange}")
    assert f"{strange}x: No such file" in refused(one, f"--machines={strange}x")
    strange.write_text("no-such-machine\n10.77.0.1\n")
    assert "no-such-machine" in refused(one, f"--machines={strange}")
    for mode, size in ((0o640, 16), (0o604, 16), (0o600, 15), (0o600, 17)):
        one.network.key.chmod(mode)
        one.network.key.write_bytes(bytes(size))
        assert "mode 0600" in refused(one)


def test_a_key_is_made_once_and_only_for_its_owner(build, in_memory):
    one, two = machines = build(2)
    one.network.key = in_memory / "new"
    start_daemons(machines)
    assert (one.network.key.stat().st_mode & 0o777, one.network.key.stat().st_size) == (0o600, 16)
    assert [name.name for name in in_memory.glob("new*")] == ["new"]


@contextlib.contextmanager
def listener(machine):
    script = f"import socket; s = socket.create_server(('{machine.address}', {PORT})); input()"
    with machine.running(["/usr/bin/python3", "-c", script], stdin=subprocess.PIPE):
        machine.listens(PORT)
        yield


def test_a_port_that_is_in_use(build):
    one, _ = build(2)
    with listener(one):
        done = one.inside([one.softhca, "start", *one.options()])
    assert done.returncode == 125 and f"port {PORT}" in done.stderr and "--port" in done.stderr


def test_runs_with_other_settings_do_not_share(build):
    one, two = machines = build(2)
    start_daemons(machines)
    done = one.inside([one.softhca, "run", *one.options("--devices=1"), "--", "true"])
    assert done.returncode == 125 and "other settings" in done.stderr, done


def test_a_list_of_one_machine_is_as_none(build):
    one, = build(1)
    done = one.must(one.softhca, "run", *one.options(), "--", "ibv_devinfo", "-l",
                    env={"LD_PRELOAD": ""})
    assert "2 HCAs found" in done, done


# Connects to the port of the first machine in each of the ways of an enemy, many times.
ENEMY = r"""
import os, random, socket, sys
address, rng = (sys.argv[1], int(sys.argv[2])), random.Random(5)
def connect():
    s = socket.create_connection(address, 5)
    s.settimeout(5)
    return s
def heard(s, size):
    got = b""
    while len(got) < size and (more := s.recv(size - len(got))):
        got += more
    return got
for length in [1, 7, 23, 24, 25, 100, 4000] * 4:
    with connect() as s:
        s.sendall(rng.randbytes(length))
with connect() as s:                        # what it says itself
    s.sendall(heard(s, 24))
    try:
        assert heard(s, 1) == b"", "it answers its own greeting"
    except ConnectionError:
        pass
with connect() as s:                        # a greeting, and then no introduction
    greeting = heard(s, 24)
    s.sendall(greeting[:8] + os.urandom(16))
    said = heard(s, 168)
    assert len(said) == 168, said
    s.sendall(said)                         # the seal of another
    s.settimeout(1)
    try:
        assert s.recv(1) == b"", "the introduction was taken"
    except ConnectionError:
        pass
quiet = [connect() for _ in range(600)]
print("ready", flush=True)
sys.stdin.read()
"""


def test_strangers_at_the_port_hinder_nobody(build):
    """They come before a machine has met, and again when its peer is to come back."""
    one, two = machines = build(2)
    program = PROGRAMS / "softhca-across"
    starting = one.start_daemon()
    one.listens(PORT)
    with two.running(["/usr/bin/python3", "-c", ENEMY, one.address, PORT],
                     stdin=subprocess.PIPE) as enemy:
        assert enemy.stdout.readline() == "ready\n", enemy.communicate()
        late = two.start_daemon()
        assert [start.communicate(timeout=60)[0] and start.returncode
                for start in (starting, late)] == [0, 0]
        across(one, two, [program, "once"], [program, "once"], env={"ACROSS_SERVER": one.address})
    assert re.search(r"10.77.0.2.* met", one.status())


# Tells two machines what the other one says, as if it were that one.
RELAY = r"""
import socket, sys
def heard(s, size):
    got = b""
    while len(got) < size and (more := s.recv(size - len(got))):
        got += more
    return got
for _ in range(20):
    ends = [socket.create_connection((address, int(sys.argv[1])), 5) for address in sys.argv[2:]]
    greetings = [heard(end, 24) for end in ends]
    for end, greeting in zip(ends, reversed(greetings)):
        end.sendall(greeting)
    introductions = [heard(end, 168) for end in ends]
    assert [len(words) for words in introductions] == [168, 168]
    for end, words in zip(ends, reversed(introductions)):
        end.sendall(words)
    for end in ends:
        end.settimeout(5)
        try:
            assert end.recv(1) == b"", "the introduction was taken"
        except ConnectionError:
            pass
"""


def test_a_relay_between_two_machines_hinders_nobody(build):
    """One connection of theirs has no retries (across.c)."""
    one, two = machines = build(2)
    start_daemons(machines)
    program = PROGRAMS / "softhca-across"
    relay = ["/usr/bin/python3", "-c", RELAY, PORT, one.address, two.address]
    with two.running([program, "5000"], env={"ACROSS_SERVER": one.address}) as end:
        with one.running([program, "5000"], env={"ACROSS_SERVER": one.address}) as other:
            two.must(*relay)
            assert [e.communicate(timeout=60)[0][:3] for e in (end, other)] == 2 * ["ok "]
