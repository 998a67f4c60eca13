# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Machines that do not meet: what the user is told, and what comes to the port uninvited."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import time

import pytest

import models
from built import PROGRAMS
from installed import need
from machines import across, start_daemons
from streams import arrive_in_spite
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
    assert "--net: adapters" in refused(two, "--net", words="run", program=["--", "true"])


def test_a_second_run_waits_no_longer_than_it_says(build):
    """It takes over from the first one, which has waited in vain."""
    one, _ = build(2)
    run = [one.softhca, "run", *one.options("--machines_wait=6"), "--", "true"]
    with one.started(run, env={"LD_PRELOAD": ""}) as first:
        time.sleep(0.5)
        begin = time.monotonic()
        second = one.inside(run, env={"LD_PRELOAD": ""})
        assert time.monotonic() < begin + 10
        assert all("machine 10.77.0.2 is missing" in said
                   for said in (second.stderr, first.communicate(timeout=30)[0])), second


def test_a_start_that_is_stopped_says_so(build):
    one, _ = build(2)
    start = one.start_daemon("--machines_wait=30")
    stop = [one.softhca, "stop"]
    wait_for(lambda: one.inside(stop, env={"LD_PRELOAD": ""}).returncode == 0, "daemon")
    assert "stopped; machine 10.77.0.2 is missing" in start.communicate(timeout=10)[0]
    assert start.returncode == 125


def status(machine):
    return machine.inside([machine.softhca, "status"], env={"LD_PRELOAD": ""}).stdout


def refused_with(words, machines, starting, by=any):
    """One machine or each refuses the other with these words, which its user reads, too. They may
    take their time on a busy machine, and are stopped then: first the one that has the words, as
    it would miss the other's daemon next."""
    wait_for(lambda: by(words in status(machine) for machine in machines), words)
    said, pairs = [], zip(machines, starting)
    for machine, start in sorted(pairs, key=lambda pair: words not in status(pair[0])):
        machine.ask("stop")
        said.append(start.communicate(timeout=30)[0])
        assert start.returncode == 125, said
    assert words in said[0], said


def test_a_machine_with_another_key_or_other_settings_is_refused(build, in_memory):
    machines = build(2)
    other, names = in_memory / "other", in_memory / "names"
    other.touch(mode=0o600)
    other.write_bytes(bytes(16))
    names.write_text(machines[0].network.list.read_text().replace(machines[1].address, "m1"))
    model, = models.DRIVERS.keys() - {models.model()}
    for change in (f"--key={other}", "--devices=1", "--link=ethernet", f"--model={model}",
                   "--ports=2", "--address=10.1.0.1", f"--machines={names}"):
        starting = [machines[0].start_daemon(), machines[1].start_daemon(change)]
        words = "another key" if change.startswith("--key") else "other settings"
        refused_with(words, machines, starting)


def test_a_machine_with_another_network_is_refused(build):
    machines = one, two = build(2)
    other = two.start_daemon(env={"FI_PROVIDER": "sockets"})
    wait_for(lambda: other.poll() is not None or "this one" in status(two), "daemon")
    if other.poll() is not None and "No data available" in other.communicate()[0]:
        pytest.skip("this libfabric has one provider only")
    refused_with("another provider of libfabric", machines, [one.start_daemon(), other])


def test_a_firewall_that_refuses_the_next_port(build):
    machines = build(2)
    for machine in machines:
        machine.ip("rule", "add", "ipproto", "6", "dport", PORT + 1, "prohibit")
    starting = [machine.start_daemon() for machine in machines]
    refused_with("is the next port open", machines, starting, by=all)


def test_files_that_cannot_be_used(build, in_memory):
    one, _ = build(2)
    strange = in_memory / "strange"
    strange.write_text("10.77.0.9\n")
    assert "this one has the address of none" in refused(one, f"--machines={strange}")
    assert f"{strange}x: No such file" in refused(one, f"--machines={strange}x")
    strange.write_text("no-such-machine\n10.77.0.1\n")
    assert "no-such-machine" in refused(one, f"--machines={strange}")
    assert "Is a directory" in refused(one, f"--machines={in_memory}")
    strange.write_text("10.77.0.1\n" + 300 * "x")
    assert "too long for a name" in refused(one, f"--machines={strange}")
    strange.write_text("10.77.0.1\n" + "".join(f"m{i}\n" for i in range(256)))
    assert "more than 256 machines" in refused(one, f"--machines={strange}")
    strange.write_text("".join(f"10.77.0.{i}\n" for i in range(1, 101)))
    assert "100 machines with 16 devices" in refused(one, f"--machines={strange}", "--devices=16")
    assert "have no room behind it" in refused(one, f"--machines={strange}", "--devices=1",
                                               "--address=126.255.200.1")
    strange.write_text("10.77.0.1\nfd00::2\n")
    assert "of one kind, IPv4 or IPv6: 10.77.0.1 has no IPv6 address" in refused(
        one, f"--machines={strange}")
    strange.write_text("10.77.0.1\n10.77.0.2\nm1\n")
    assert "10.77.0.2 and m1 have the same address" in refused(one, f"--machines={strange}")
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
    with machine.started([sys.executable, "-c", script], stdin=subprocess.PIPE):
        machine.wait_for_listener(PORT)
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
    need("ibv_devinfo")
    one, = build(1)
    done = one.must(one.softhca, "run", *one.options(), "--", "ibv_devinfo", "-l",
                    env={"LD_PRELOAD": ""})
    assert "2 HCAs found" in done, done


# What the scripts below begin with: how long a greeting and an introduction are.
HEARD = """
import os, random, select, socket, sys
GREETING, INTRODUCTION = 24, 166
def heard(s, size):
    got = b""
    while len(got) < size and (more := s.recv(size - len(got))):
        got += more
    return got
"""

# Connects to the port of the first machine in each of the ways of an enemy, many times.
ENEMY = HEARD + r"""
address, rng = (sys.argv[1], int(sys.argv[2])), random.Random(5)
def connect():
    s = socket.create_connection(address, 5)
    s.settimeout(5)
    return s
for length in [1, 7, GREETING - 1, GREETING, GREETING + 1, 100, 4000] * 4:
    with connect() as s:
        s.sendall(rng.randbytes(length))
with connect() as s:                        # what it says itself
    s.sendall(heard(s, GREETING))
    try:
        assert heard(s, 1) == b"", "it answers its own greeting"
    except ConnectionError:
        pass
with connect() as s:                        # a greeting, and then no introduction
    greeting = heard(s, GREETING)
    s.sendall(greeting[:8] + os.urandom(16))
    said = heard(s, INTRODUCTION)
    assert len(said) == INTRODUCTION, said
    s.sendall(said)                         # the seal of another
    s.settimeout(1)
    try:
        assert s.recv(1) == b"", "the introduction was taken"
    except ConnectionError:
        pass
for length in [1, 7, 100, 4000] * 10:       # libfabric's port
    with socket.create_connection((address[0], address[1] + 1), 5) as s:
        s.sendall(rng.randbytes(length))
quiet = [connect() for _ in range(600)]
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for number, s in enumerate(quiet):
        try:
            if s.recv(GREETING, socket.MSG_DONTWAIT):
                continue
        except BlockingIOError:
            continue
        except ConnectionError:
            pass
        s.close()                           # the end: it comes again
        quiet[number] = connect()
"""


def test_strangers_at_the_port_hinder_nobody(build):
    """Some only open connections, and open each that was ended again."""
    one, two = machines = build(2)
    program = PROGRAMS / "softhca-across"
    starting = one.start_daemon()
    one.wait_for_listener(PORT)
    with two.started([sys.executable, "-c", ENEMY, one.address, PORT],
                     stdin=subprocess.PIPE) as enemy:
        assert enemy.stdout.readline() == "ready\n", enemy.communicate()
        late = two.start_daemon()
        assert [start.communicate(timeout=120)[0] and start.returncode
                for start in (starting, late)] == [0, 0]
        across(one, two, [program, "once"], [program, "once"], env={"ACROSS_SERVER": one.address})
        assert enemy.poll() is None, enemy.communicate()
    assert re.search(r"10.77.0.2.* met", one.status())


# Tells two machines what the other one says, as if it were that one. Calls them, or waits for the
# call of one with a '+'.
RELAY = HEARD + r"""
port = int(sys.argv[1])
server = socket.create_server(("", port)) if "+" in "".join(sys.argv) else None
def end_of(machine):
    if machine[0] != "+":
        return socket.create_connection((machine, port), 5)
    while True:
        end, address = server.accept()
        if address[0] == machine[1:]:
            return end
        end.close()
for _ in range(20):
    ends = [end_of(machine) for machine in sys.argv[2:]]
    greetings = [heard(end, GREETING) for end in ends]
    for end, greeting in zip(ends, reversed(greetings)):
        end.sendall(greeting)
    introductions = [heard(end, INTRODUCTION) for end in ends]
    assert [len(words) for words in introductions] == 2 * [INTRODUCTION]
    for end, words in zip(ends, reversed(introductions)):
        end.sendall(words)
    for end in ends:
        end.settimeout(5)
        try:
            assert end.recv(1) == b"", "the introduction was taken"
        except ConnectionError:
            pass
"""


def relay(machine, *words):
    machine.must(sys.executable, "-c", RELAY, PORT, *words)


def test_a_relay_between_two_machines_hinders_nobody(build):
    one, two = machines = build(2)
    start_daemons(machines)
    arrive_in_spite(one, two, lambda: relay(two, one.address, two.address))


def test_a_stranger_at_the_port_of_a_machine_that_has_gone_hinders_nobody(build):
    """Machines that call it cannot be passed on to others that wait for a call."""
    gone, one, two = machines = build(3)
    start_daemons(machines)
    gone.must(gone.softhca, "stop")
    arrive_in_spite(one, two, lambda: relay(gone, f"+{two.address}", one.address))
